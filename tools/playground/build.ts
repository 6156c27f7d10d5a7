// Writes the playground as static files: build/playground, which the command serves and the site publishes.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions } from "esbuild";
import { STYLE } from "../../cli/explain/html.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCE = join(ROOT, "playground");
const OUT = join(ROOT, "build/playground");
/** Scenarios of envoy-config that are shown, the first one at once. */
const SAMPLES = [
  "cross-provider-fallback",
  "weighted-capacity-with-overflow",
  "composite-primary-secondary-fallback",
  "attempts",
  "cool-down",
  "hold-response",
  "providers",
  "llm-gateway",
];

const common: BuildOptions = {
  bundle: true,
  minify: true,
  format: "iife",
  platform: "browser",
  target: "es2022",
  write: false,
  loader: { ".wasm": "binary" },
  logLevel: "warning",
};

async function bundled(entry: string, define: Record<string, string> = {}): Promise<string> {
  const { outputFiles } = await build({ ...common, entryPoints: [join(SOURCE, entry)], define });
  return outputFiles?.[0]?.text ?? "";
}

async function samples(): Promise<Record<string, string>> {
  const texts = SAMPLES.map(async (name) => [
    name,
    await readFile(join(ROOT, "envoy-config", name, "native.yaml"), "utf8"),
  ]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}

// A worker made from text obeys the policy of the page: it can connect to nothing either.
const worker = await bundled("worker.ts");
const page = await bundled("page.ts", {
  WORKER_SOURCE: JSON.stringify(worker),
  SAMPLES: JSON.stringify(await samples()),
});
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await writeFile(join(OUT, "page.js"), page);
await writeFile(join(OUT, "page.css"), STYLE.trimStart() + (await readFile(join(SOURCE, "page.css"), "utf8")));
await writeFile(join(OUT, "index.html"), await readFile(join(SOURCE, "index.html"), "utf8"));
