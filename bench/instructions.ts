// `npm run bench:instructions -- [--row TEXT]… [--requests N] [--json FILE]`: instructions per request, row by row.
// Needs valgrind. A row takes one to four minutes.

import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { envoyVersions, findEnvoy } from "../tools/envoy/binary.js";
import { instructionsPerRequest } from "./callgrind.js";
import * as scenario from "./scenarios.js";

const WASM = fileURLToPath(new URL("../build/attempt-router.wasm", import.meta.url));
const NOOP = fileURLToPath(new URL("peers/noop.ts", import.meta.url));

const { values } = parseArgs({
  options: {
    row: { type: "string", multiple: true, default: [] },
    requests: { type: "string", default: "500" },
    "warm-up": { type: "string", default: "2000" },
    json: { type: "string" },
  },
});

interface Row {
  name: string;
  config: string;
  path?: string;
}

const directory = await mkdtemp(join(tmpdir(), "attempt-router-bench-"));
const [ok, failing] = await Promise.all([upstream(200), upstream(503)]);
try {
  const noop = join(directory, "noop.wasm");
  // Away from the project's own compiler options.
  await copyFile(NOOP, join(directory, "noop.ts"));
  const options = { cwd: directory, preferLocal: true, localDir: import.meta.dirname };
  await execa("asc", ["noop.ts", "-O3", "--runtime", "stub", "--use", "abort=noop/abort", "-o", "noop.wasm"], options);
  const rows = allRows({ ok: portOf(ok), failing: portOf(failing) }, noop);
  const wanted = values.row;
  const chosen = rows.filter(({ name }) => wanted.length === 0 || wanted.some((text) => name.startsWith(text)));
  const results: Record<string, number> = {};
  const { oracle } = await envoyVersions();
  const binary = await findEnvoy(oracle);
  for (const [i, { name, config, path = "/" }] of chosen.entries()) {
    process.stderr.write(`[${i + 1}/${chosen.length}] ${name}\n`);
    const traffic = { path, warmUp: Number(values["warm-up"]), requests: Number(values.requests) };
    results[name] = Math.round(await instructionsPerRequest(binary, config, traffic));
    process.stdout.write(`| ${name} | ${results[name].toLocaleString("en")} |\n`);
    if (values.json !== undefined)
      await writeFile(values.json, `${JSON.stringify({ envoy: oracle, results }, null, 2)}\n`);
  }
} finally {
  ok.close();
  failing.close();
  await rm(directory, { recursive: true, force: true });
}

function allRows(upstreams: scenario.Upstreams, noop: string): Row[] {
  const { bootstrap, priorityGroups, lowered, WEIGHTED, SINGLE } = scenario;
  const native = (first: typeof WEIGHTED, fails: scenario.Failing = "") =>
    bootstrap(priorityGroups(first), upstreams, fails);
  const plain = { cluster: "a1" };
  const overriding = (size: number) => {
    const action = priorityGroups(WEIGHTED, { override_metadata_namespace: "override" });
    return bootstrap(action, upstreams, "", [scenario.foreignMetadata(size)]);
  };
  return [
    { name: "plain cluster", config: bootstrap(plain, upstreams) },
    { name: "native, weighted 80/20", config: native(WEIGHTED) },
    { name: "native, single clusters", config: native(SINGLE) },
    { name: "no-op module, plain cluster", config: bootstrap(plain, upstreams, "", [scenario.noopFilter(noop)]) },
    { name: "slots without module, single clusters", config: scenario.withoutModule(native(SINGLE), WASM) },
    { name: "module, route without settings", config: lowered(native(WEIGHTED), WASM), path: "/plain" },
    { name: "module, weighted 80/20", config: lowered(native(WEIGHTED), WASM) },
    { name: "module, single clusters", config: lowered(native(SINGLE), WASM) },
    { name: "Lua peer, weighted 80/20", config: scenario.luaPeer(upstreams) },
    { name: "native, 1 retry", config: native(SINGLE, "a") },
    { name: "module, 1 retry", config: lowered(native(SINGLE, "a"), WASM) },
    { name: "native, 2 retries", config: native(SINGLE, "ab") },
    { name: "module, 2 retries", config: lowered(native(SINGLE, "ab"), WASM) },
    ...Object.entries({ fail: scenario.FAILS, hold: scenario.HOLDS }).map(([how, when]) => {
      const config = bootstrap(plain, upstreams, "", [], scenario.timeoutOverrides(10, when));
      return { name: `module, ten specifiers that ${how}`, config: lowered(config, WASM) };
    }),
    ...[0, 1, 10, 100].flatMap((kilobytes) => {
      const config = overriding(kilobytes * 1024);
      return [
        { name: `native, override beside ${kilobytes} KB`, config },
        { name: `module, override beside ${kilobytes} KB`, config: lowered(config, WASM) },
      ];
    }),
  ];
}

async function upstream(status: number): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-length": "2" }).end("ok");
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function portOf(server: http.Server): number {
  return (server.address() as AddressInfo).port;
}
