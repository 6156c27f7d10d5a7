import { EXTENSION_FILTER } from "../../tools/manifests/envoy-gateway.js";
import { httpFilters, WASM_TYPE, type Message } from "../../tools/manifests/native.js";

/** The listener and the RouteConfiguration of a gateway. */
export type Generated = [listener: Message, routes: Message];

interface Patch {
  applyTo: string;
  patch: { operation: string; value: Message };
}

/**
 * Does what Istio does with the patches of an EnvoyFilter, as far as ours use it, and what its agent does with images:
 * the module is the file `source` then, or what the config source finds that `source` gives for a filter's name.
 */
export function applyEnvoyFilter(
  generated: Generated,
  manifest: Message,
  source: string | ((name: unknown) => Message),
): Generated {
  const [listener, routes] = structuredClone(generated);
  const { configPatches } = manifest["spec"] as { configPatches: Patch[] };
  const extensions = new Map<unknown, Message>();
  const [virtualHost] = routes["virtual_hosts"] as (Message & { routes: Message[] })[];
  for (const { applyTo, patch } of configPatches) {
    const { operation, value } = patch;
    const filters = httpFilters(listener);
    const steps: Record<string, () => void> = {
      "EXTENSION_CONFIG ADD": () =>
        void extensions.set(value["name"], typeof source === "string" ? fromFile(value, source) : value),
      "HTTP_FILTER INSERT_BEFORE": () => void filters.splice(-1, 0, value),
      "HTTP_FILTER MERGE": () => void filters.splice(-1, 1, merge(filters.at(-1), value)),
      "HTTP_ROUTE INSERT_FIRST": () => void virtualHost?.routes.unshift(value),
      "VIRTUAL_HOST MERGE": () => void Object.assign(virtualHost ?? {}, value),
    };
    const step = steps[`${applyTo} ${operation}`];
    if (step === undefined) throw new Error(`unknown patch ${applyTo} ${operation}`);
    step();
  }
  return [typeof source === "string" ? withExtensions(listener, extensions) : discovering(listener, source), routes];
}

/** Does what Envoy Gateway does with the two policies; the module is the file `wasm` then. */
export function applyPolicies(generated: Generated, [extension, patches]: Message[], wasm: string): Generated {
  const [listener, routes] = structuredClone(generated);
  const [plugin] = (extension?.["spec"] as { wasm: { name: string; rootID: string; failOpen: boolean }[] }).wasm;
  const vm_config = { vm_id: EXTENSION_FILTER, runtime: "envoy.wasm.runtime.v8", code: { local: { filename: wasm } } };
  const config = { name: plugin?.name, root_id: plugin?.rootID, fail_open: plugin?.failOpen, vm_config };
  const filter = { name: EXTENSION_FILTER, disabled: true, typed_config: { "@type": WASM_TYPE, config } };
  httpFilters(listener).splice(-1, 0, filter);
  for (const virtualHost of routes["virtual_hosts"] as { routes: Message[] }[]) {
    const enabled = { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", config: {} };
    for (const route of virtualHost.routes) route["typed_per_filter_config"] = { [EXTENSION_FILTER]: enabled };
  }
  const { jsonPatches } = patches?.["spec"] as { jsonPatches: { name: string; type: string; operation: Operation }[] };
  for (const { name, type, operation } of jsonPatches) {
    const target = [listener, routes].find((one) => one["@type"] === type && one["name"] === name);
    if (target === undefined) throw new Error(`no ${type} named ${name}`);
    applyOperation(target, operation);
  }
  return [listener, routes];
}

interface Operation {
  op: string;
  jsonPath?: string;
  path: string;
  from?: string;
  value?: unknown;
}

/** RFC 6902, for the operations that our patches use, at all places that a `jsonPath` finds. */
function applyOperation(target: Message, { op, jsonPath, path, from, value }: Operation): void {
  for (const place of jsonPath === undefined ? [target] : found(target, jsonPath)) {
    const [parent, key] = locate(place, path);
    if (op !== "add" && op !== "copy" && !(key in parent)) throw new Error(`${path}: nothing to ${op}`);
    if (op === "remove") Reflect.deleteProperty(parent, key);
    else if (op === "replace") parent[key] = value;
    else {
      const [source, index] = op === "copy" ? locate(target, from ?? "") : [{ value }, "value"];
      const added = structuredClone(source[index]);
      if (Array.isArray(parent)) parent.splice(Number(key), 0, added);
      else parent[key] = added;
    }
  }
}

/** What a JSONPath of the form `..LIST[?(@.name=='NAME')]` finds. */
function found(target: Message, jsonPath: string): Message[] {
  const [, list = "", name] = /^\.\.(\w+)\[\?\(@\.name=='(.*)'\)\]$/.exec(jsonPath) ?? [];
  const places: Message[] = [];
  JSON.stringify(target, (key, value: unknown) => {
    if (key === list) places.push(...(value as Message[]).filter((one) => one["name"] === name));
    return value;
  });
  if (places.length === 0) throw new Error(`${jsonPath}: finds nothing`);
  return places;
}

function locate(target: Message, pointer: string): [Message, string] {
  const keys = pointer.slice(1).split("/");
  const last = keys.pop() ?? "";
  const parent = keys.reduce<unknown>((at, key) => (at as Message | undefined)?.[key], target);
  if (typeof parent !== "object" || parent === null) throw new Error(`${pointer}: nothing is there`);
  return [parent as Message, last];
}

function fromFile(extension: Message, wasm: string): Message {
  const copy = structuredClone(extension) as { typed_config: { config: { vm_config: Message } } };
  copy.typed_config.config.vm_config["code"] = { local: { filename: wasm } };
  return copy as unknown as Message;
}

/** As protobuf merges: messages field by field, lists one after the other. */
function merge(base: unknown, over: unknown): Message {
  const result = { ...(base as Message) };
  for (const [key, value] of Object.entries(over as Message)) {
    const old = result[key];
    if (Array.isArray(old)) result[key] = [...(old as unknown[]), ...(value as unknown[])];
    else result[key] = isMessage(old) && isMessage(value) ? merge(old, value) : value;
  }
  return result;
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The listener with another source for each discovered filter. */
function discovering(listener: Message, source: (name: unknown) => Message): Message {
  return JSON.parse(JSON.stringify(listener), (_, value: unknown) => {
    if (!isMessage(value) || !isMessage(value["config_discovery"])) return value;
    return { ...value, config_discovery: { ...value["config_discovery"], config_source: source(value["name"]) } };
  }) as Message;
}

/** The listener with each discovered filter replaced by the extension config of its name. */
function withExtensions(listener: Message, extensions: ReadonlyMap<unknown, Message>): Message {
  return JSON.parse(JSON.stringify(listener), (_, value: unknown) => {
    if (!isMessage(value) || !("config_discovery" in value)) return value;
    const extension = extensions.get(value["name"]);
    if (extension === undefined) throw new Error(`no extension config ${String(value["name"])}`);
    return extension;
  }) as Message;
}
