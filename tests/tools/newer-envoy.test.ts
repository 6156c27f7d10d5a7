import { expect, test } from "vitest";
import { withNewer } from "../../tools/envoy/newer.js";

const KNOWN = { oracle: "1.40.0", versions: ["1.40.0", "1.39.3"] };

test.each<[string, string[], string, string[]]>([
  ["nothing new", ["1.40.0", "1.39.3", "1.39.1"], "1.40.0", ["1.40.0", "1.39.3"]],
  ["a patch of each", ["1.40.1", "1.39.10", "1.39.9"], "1.40.1", ["1.40.1", "1.39.10"]],
  ["a minor version", ["1.41.0", "1.40.0"], "1.40.0", ["1.41.0", "1.40.0", "1.39.3"]],
  [
    "two minor versions, one patched",
    ["1.41.0", "1.41.2", "1.42.0"],
    "1.40.0",
    ["1.42.0", "1.41.2", "1.40.0", "1.39.3"],
  ],
  ["older minor versions", ["1.38.9"], "1.40.0", ["1.40.0", "1.39.3"]],
  ["candidates and rebuilds", ["1.41.0rc1", "1.40.1.post1", "v1.42.0"], "1.40.0", ["1.40.0", "1.39.3"]],
])("newer Envoys: %s", (_name, released, oracle, versions) => {
  expect(withNewer(KNOWN, released)).toEqual({ oracle, versions });
});
