// The scenario envoy-config/llm-gateway on this machine: Envoy with its lowered config, and stand-ins for its vendors.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lower } from "../../cli/lower.js";
import { localize } from "../envoy/localize.js";
import { EnvoyProcess } from "../envoy/process.js";
import { CERTIFICATES, Vendors } from "./vendors.js";

const SCENARIO = new URL("../../envoy-config/llm-gateway/native.yaml", import.meta.url);
const KEYS = "/etc/envoy/keys/";
const AUTHORITY = "/etc/ssl/certs/ca-certificates.crt";

/** The keys of the vendors, by the vendor's letter. */
export const VENDOR_KEYS: Readonly<Record<string, string>> = { a: "key-of-a", b: "key-of-b", c: "key-of-c" };

export interface GatewayOptions {
  /** Replacements in the native text, for tests: what is there, and what stands in its place. */
  replace?: readonly (readonly [string, string])[];
  /** The module that Envoy loads; default: the built one. */
  wasm?: string;
  /** Further arguments of Envoy. */
  args?: string[];
}

export class LlmGateway {
  private constructor(
    readonly envoy: EnvoyProcess,
    readonly vendors: Vendors,
    private readonly keys: string,
  ) {}

  /** @throws EnvoyStartError */
  static async start(version: string, { replace = [], wasm, args = [] }: GatewayOptions = {}): Promise<LlmGateway> {
    const keys = await mkdtemp(join(tmpdir(), "attempt-router-keys-"));
    for (const [vendor, key] of Object.entries(VENDOR_KEYS)) await writeFile(join(keys, `vendor-${vendor}`), key);
    const vendors = await Vendors.start();
    try {
      const native = await nativeText(keys, vendors, replace);
      const { text } = lower(native, { file: SCENARIO.pathname, ...(wasm === undefined ? {} : { wasm }) });
      return new LlmGateway(await EnvoyProcess.start(version, text, args), vendors, keys);
    } catch (error) {
      await vendors.close();
      await rm(keys, { recursive: true });
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.envoy.port("ingress")}/v1/chat/completions`;
  }

  /** The lines of JSON that Envoy's loggers have written so far: of requests (`attempts`), and of attempts (`attempt`). */
  get logged(): Record<string, unknown>[] {
    const lines = this.envoy.log.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.vendors.close();
    await rm(this.keys, { recursive: true, force: true });
  }
}

async function nativeText(keys: string, vendors: Vendors, replace: GatewayOptions["replace"]): Promise<string> {
  let text = (await readFile(SCENARIO, "utf8")).replaceAll("vendor-a.example", "a.example");
  text = text.replaceAll("vendor-b.example", "b.example").replaceAll("vendor-c.example", "c.example");
  text = text.replaceAll(KEYS, `${keys}/`);
  for (const [from, to] of replace ?? []) {
    if (!text.includes(from)) throw new Error(`the scenario does not have: ${from}`);
    text = text.replaceAll(from, to);
  }
  return localize(text, { hosts: vendors.ports, files: { [AUTHORITY]: `${CERTIFICATES}authority.pem` } });
}
