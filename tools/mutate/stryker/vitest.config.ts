import { defineConfig } from "vitest/config";

// The tests that run the command line in their own process, where the changes are. MUTATE_TESTS names them.
export default defineConfig({
  test: { include: (process.env["MUTATE_TESTS"] ?? "tests/cli/choose/*.test.ts").split(" "), testTimeout: 60_000 },
});
