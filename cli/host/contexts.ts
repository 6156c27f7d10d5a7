import type { Bytes } from "./bytes.js";
import type { HeaderMap } from "./header-map.js";
import type { PropertyValue } from "./properties.js";
import type { Pair } from "./pairs.js";

/** One plugin configuration: a wasm filter of an Envoy configuration. */
export interface PluginConfig {
  /** `config.name` */
  name: string;
  /** `config.root_id` */
  rootId: string;
  /** `config.configuration` */
  configuration?: Bytes;
}

/** A response that the module sent itself. */
export interface LocalReply {
  status: number;
  details: string;
  body: Uint8Array;
  headers: Pair[];
  /** undefined when the module set none (-1) */
  grpcStatus: number | undefined;
}

/** Why Envoy would resolve the route again: the foreign function, or a changed request header (ABI up to 0.2.1). */
export type RouteCacheClear = "clear_route_cache" | "request_headers";

/** What a stream context may ask of the request that it belongs to. */
export interface StreamHost {
  /** An attribute by its top-level name. */
  property(name: string): PropertyValue | undefined;
  /** Writes filter state `wasm.<path>`. */
  setProperty(path: string, value: Uint8Array): void;
  clearRouteCache(reason: RouteCacheClear): void;
}

/** The context of the VM itself (id 0): runs `_initialize` and `malloc`. */
export class VmContext {
  readonly kind = "vm";
  readonly id = 0;
}

/** A root context: one per plugin configuration. */
export class RootContext {
  readonly kind = "root";
  tickPeriodMs = 0;
  /** What proxy_get_status gives: of the last failed call. */
  status = { code: 0, message: "" };
  /** The HTTP call response that is being delivered. */
  callResponse: { headers: HeaderMap; body: Uint8Array; trailers: HeaderMap } | undefined;
  /** True while the plugin configuration can be read (on_configure). */
  configuring = false;

  constructor(
    readonly id: number,
    readonly plugin: PluginConfig,
  ) {}
}

/** A stream context: one per request downstream, one per attempt upstream. */
export class StreamContext {
  readonly kind = "stream";
  /** Undefined outside the phase in which Envoy makes them available. */
  requestHeaders: HeaderMap | undefined;
  responseHeaders: HeaderMap | undefined;
  requestBody: Uint8Array | undefined;
  responseBody: Uint8Array | undefined;
  localReply: LocalReply | undefined;
  continued = false;
  closed = false;
  /** True while on_log runs: missing header maps are then NotFound, not BadArgument. */
  logging = false;
  created = false;

  constructor(
    readonly id: number,
    readonly root: RootContext,
    readonly stream: StreamHost,
  ) {}
}

export type Context = VmContext | RootContext | StreamContext;

export function rootOf(context: Context): RootContext | undefined {
  if (context.kind === "vm") return undefined;
  return context.kind === "root" ? context : context.root;
}
