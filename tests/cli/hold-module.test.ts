import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { builtHoldModulePath } from "../../cli/module-path.js";
import { fixtures } from "./support.js";

const TEXT = fixtures("lower").find(({ name }) => name === "hold-response.yaml")?.text ?? "";
const BUILT = builtHoldModulePath();
const DIGEST = createHash("sha256").update(readFileSync(BUILT)).digest("hex");

test("the module that holds answers is expected beside the other, under its own name", () => {
  const places = ["/etc/envoy/attempt-router.wasm", "/etc/envoy/mine.wasm", "attempt-router.wasm"];
  const named = places.map((wasm) => new Set(/^.*filename: (.*hold.*)$/m.exec(lower(TEXT, { wasm }).text)?.slice(1)));
  expect(named.flatMap((all) => [...all])).toEqual([
    "/etc/envoy/attempt-router-hold.wasm",
    "/etc/envoy/attempt-router-hold.wasm",
    "attempt-router-hold.wasm",
  ]);
  expect(lower(TEXT).text).toContain(`filename: ${BUILT}`);
});

test("a remote one comes from the same folder, with the digest of the built file", () => {
  const url = "https://modules.test:8443/a/attempt-router.wasm?v=1";
  const { text } = lower(TEXT, { wasmRemote: { url, sha256: "ab".repeat(32) } });
  expect(text).toContain("https://modules.test:8443/a/attempt-router-hold.wasm?v=1");
  expect(text).toContain(DIGEST);
  expect(text).toContain("name: attempt_router_module");
});

test("a file that only holds answers names the cluster of a remote module, too", () => {
  const plain = TEXT.replaceAll(/^ {14}- match: \{prefix: \/chain\}[^]*?(?=^ {14}- match)/gm, "");
  expect(plain).not.toContain("priority_group");
  const url = "https://modules.test/attempt-router.wasm";
  const { text } = lower(plain, { wasmRemote: { url, sha256: "ab".repeat(32) } });
  expect(text).toMatch(/name: attempt_router_module\b/);
  expect(text).not.toContain("/attempt-router.wasm");
});
