import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildNoop } from "../../bench/build-peers.js";
import { ROWS, type Row } from "../../bench/rows.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { send } from "../support/client.js";
import { WASM } from "../support/lowering.js";
import { REQUEST_ID_HEADER, Upstreams } from "../support/upstreams.js";

let directory: string;
let noop: string;
let upstreams: Upstreams;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attempt-router-rows-"));
  noop = await buildNoop(directory);
  upstreams = await Upstreams.start({ ok: 200, failing: 503 });
});
afterAll(async () => {
  await upstreams.close();
  await rm(directory, { recursive: true, force: true });
});

test("a row comes after the one that it is compared with, and names are used once", () => {
  const names = ROWS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const early = ROWS.filter(({ against }, i) => against !== undefined && !names.slice(0, i).includes(against));
  expect(early).toEqual([]);
});

test.each(ROWS)("Envoy serves with as many retries as the name says: $name", async (row) => {
  const envoy = await start(row);
  try {
    const id = `rows: ${row.name}`;
    expect((await get(envoy, row.path, id)).status).toBe(200);
    const retries = Number(/(\d) retr/.exec(row.name)?.[1] ?? 0);
    const hops = upstreams.hopsOf(id).map((hop) => hop.upstream);
    expect(hops).toEqual([...Array.from({ length: retries }, () => "failing"), "ok"]);
  } finally {
    await envoy.stop();
  }
});

test.each(["native", "lowered", "split", "Lua peer"])(
  "one request in five goes to a2: %s, weighted 80/20",
  async (who) => {
    const row = ROWS.find(({ name }) => name === `${who}, weighted 80/20`);
    if (row === undefined) throw new Error("there is such a row");
    const envoy = await start(row);
    try {
      for (let i = 0; i < 300; i++) await get(envoy, "/", String(i));
      // 60 on average; this far off once in a million runs.
      const other = await envoy.admin.stat("cluster.a2.upstream_rq_total");
      expect(Math.abs(other - 60)).toBeLessThan(35);
    } finally {
      await envoy.stop();
    }
  },
);

async function start({ configure }: Row): Promise<EnvoyProcess> {
  // The Rust peer's compiler may be missing here; any module will do for its place in the configuration.
  const peer = () => Promise.resolve(noop);
  const ports = { ok: upstreams.port("ok"), failing: upstreams.port("failing") };
  return EnvoyProcess.start(versions.oracle, await configure({ upstreams: ports, wasm: WASM, noop: peer, rust: peer }));
}

function get(envoy: EnvoyProcess, path: string, id: string) {
  const headers = { host: "test", [REQUEST_ID_HEADER]: id };
  return send({ port: envoy.port("bench"), protocol: "http1", method: "GET", path, headers, body: "" });
}
