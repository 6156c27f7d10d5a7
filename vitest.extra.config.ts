import { defineConfig } from "vitest/config";

// Tests that need tools which are not everybody's: `--mode registry` runs `*.registry-test.ts`, and so on.
export default defineConfig(({ mode }) => ({
  test: {
    include: [`tests/**/*.${mode}-test.ts`],
    testTimeout: 120_000,
    hookTimeout: 600_000,
    // Envoy Gateway listens on ports of its own choice.
    fileParallelism: mode !== "envoy-gateway",
  },
}));
