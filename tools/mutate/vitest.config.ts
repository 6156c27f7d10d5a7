import { defineConfig } from "vitest/config";

// The tests that run the command line in their own process, where a mutation is: not those that start another, or an Envoy.
export default defineConfig({
  test: {
    include: ["tests/cli/**/*.test.ts", "tests/check/**/*.test.ts", "tests/explain/explain.test.ts", "tests/explain/answers.test.ts"],
    exclude: ["**/node_modules/**", ...["output", "stdio", "styles/*", "envoy-config"].map((name) => `tests/cli/${name}.test.ts`)],
    testTimeout: 60_000,
  },
});
