import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lower } from "../cli/lower.js";

const FOLDER = new URL("../envoy-config/", import.meta.url);
/** Where docker-compose.yml mounts the module. */
const WASM = "/etc/envoy/attempt-router.wasm";

/** A scenario of envoy-config/, with the stock config that its native.yaml lowers to. */
export interface Scenario {
  name: string;
  /** Absolute path of the generated envoy.yaml. */
  output: string;
  text: string;
}

export function lowerScenarios(): Scenario[] {
  const names = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => {
    const native = readFileSync(new URL(`${name}/native.yaml`, FOLDER), "utf8");
    const { text } = lower(native, { file: `envoy-config/${name}/native.yaml`, wasm: WASM });
    const header = "# Generated from native.yaml by `npm run generate:envoy-config`.\n";
    return { name, output: fileURLToPath(new URL(`${name}/envoy.yaml`, FOLDER)), text: header + text };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { output, text } of lowerScenarios()) writeFileSync(output, text);
}
