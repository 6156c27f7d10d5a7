import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { lowerScenarios } from "../../tools/generate-envoy-config.js";

const seed = readFileSync(new URL("../../envoy-config/cross-provider-fallback/native.yaml", import.meta.url), "utf8");

describe.each(lowerScenarios())("envoy-config/$name", ({ output, text }) => {
  test("envoy.yaml is what native.yaml lowers to (npm run generate:envoy-config)", () => {
    expect(readFileSync(output, "utf8")).toBe(text);
  });
});

test("the first scenario has the document's groups and retry policy", () => {
  const text = JSON.stringify(parse(seed));
  expect(text).toContain(
    '{"cluster_name":"provider_a_model_1","weight":80},{"cluster_name":"provider_a_model_2","weight":20}',
  );
  expect(text).toContain('"num_retries":2,"refresh_cluster_on_retry":true');
});
