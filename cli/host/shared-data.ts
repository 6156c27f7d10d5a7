import { WasmResult } from "./abi.js";

interface Entry {
  value: Uint8Array;
  cas: number;
}

/** Shared data of a vm_id. Pass one instance to several hosts to share it, as the workers of an Envoy do. */
export class SharedData {
  private readonly entries = new Map<string, Entry>();
  private lastCas = 0;

  get(key: string): Readonly<Entry> | undefined {
    return this.entries.get(key);
  }

  /** @param cas 0 writes unconditionally; a key that does not exist yet takes any value */
  set(key: string, value: Uint8Array, cas: number): WasmResult {
    const old = this.entries.get(key);
    if (old !== undefined && cas !== 0 && cas !== old.cas) return WasmResult.CasMismatch;
    this.lastCas += 1;
    this.entries.set(key, { value: Uint8Array.from(value), cas: this.lastCas });
    return WasmResult.Ok;
  }
}
