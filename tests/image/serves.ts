import { expect } from "vitest";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lower } from "../../cli/lower.js";
import { localize } from "../../tools/envoy/localize.js";
import { Serving, type Served } from "../support/serving.js";

/** The native config that is served. */
export const NATIVE = fileURLToPath(new URL("../../envoy-config/cross-provider-fallback/native.yaml", import.meta.url));
const MODELS = ["provider-a-model-1", "provider-a-model-2"];
const REQUESTS = 40;

/** Expects Envoy `version` with the module in `file` to walk the groups, and to use both clusters of the first one. */
export async function expectModuleServes(version: string, file: string): Promise<void> {
  await expectServes(version, lower(readFileSync(NATIVE, "utf8"), { wasm: file }).text);
}

/** The same, with `text`, which NATIVE was lowered to. */
export async function expectServes(version: string, text: string): Promise<void> {
  const replies = { "provider-a-model-1": 429, "provider-a-model-2": 503, "provider-b": 503, "provider-c": 200 };
  const serving = await Serving.start(version, replies, (upstreams) =>
    localize(text, { hosts: Object.fromEntries(Object.keys(replies).map((name) => [name, upstreams.port(name)])) }),
  );
  try {
    // One after another: a cluster lets three retries wait at a time.
    const all: Served[] = [];
    while (all.length < REQUESTS) all.push(await serving.get("/v1/messages"));
    expect(new Set(all.map(({ response }) => response.status))).toEqual(new Set([200]));
    expect(all.map(({ hops }) => hops.slice(1))).toEqual(all.map(() => ["provider-b", "provider-c"]));
    // The second model is picked by the module only: without it, every first attempt takes the default.
    expect(new Set(all.map(({ hops }) => hops[0]))).toEqual(new Set(MODELS));
  } finally {
    await serving.stop();
  }
}
