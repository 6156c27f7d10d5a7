declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}

/** Put in by tools/playground/build.ts: the worker's script, and the configs to begin with. */
declare const WORKER_SOURCE: string;
declare const SAMPLES: Readonly<Record<string, string>>;
