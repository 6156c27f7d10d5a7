import { headersAction, type HeadersAction } from "./abi.js";
import { toBytes, toText, type Bytes } from "./bytes.js";
import type { LocalReply, RootContext, RouteCacheClear, StreamContext, StreamHost } from "./contexts.js";
import { HeaderMap, headerChanges, type HeaderChanges, type HeadersInput } from "./header-map.js";
import type { LogLine, WasmHost } from "./host.js";
import { encodeMetadata, type MetadataInput } from "./metadata.js";
import { headersNode, metadataNode, namespaceNode, type PropertyValue, type Scalar } from "./properties.js";

const FILTER_STATE_PREFIX = "wasm.";
const SLOT_PREFIX = "wasm.attempt_router.";

/** A request as the downstream role meets it. Everything may be left out. */
export interface RequestSpec {
  /** false: no route was resolved; only the virtual host is known. */
  route?: boolean;
  routeName?: string;
  routeMetadata?: MetadataInput;
  virtualHostName?: string;
  virtualHostMetadata?: MetadataInput;
  /** Cluster of the route that is cached when the downstream role runs. */
  clusterName?: string;
  /** Header values are byte strings. Pseudo headers default to GET http://localhost/. */
  headers?: HeadersInput;
  dynamicMetadata?: MetadataInput;
  /** Filter state set by earlier filters, under full keys (`wasm.…`). */
  filterState?: Readonly<Record<string, Bytes>>;
  /** Address and port of the client; default 127.0.0.1:50000. */
  sourceAddress?: string;
  /** Further attributes by dotted path (`connection.id`, `response.code`), or other values for known ones. */
  attributes?: Readonly<Record<string, Scalar>>;
  /** The request has no body; default true. */
  endOfStream?: boolean;
}

/** What happens to one attempt. */
export interface AttemptSpec {
  clusterName?: string;
  upstreamAddress?: string;
  /** Left out: the attempt ends without a response (reset, time-out). */
  response?: { status: number; headers?: HeadersInput };
  attributes?: Readonly<Record<string, Scalar>>;
}

/** One write of filter state. */
export interface FilterStateWrite {
  /** Full key (`wasm.…`). */
  key: string;
  value: string;
}

/** What one run of a role did. */
export interface RoleResult {
  action: HeadersAction;
  writes: FilterStateWrite[];
  logs: LogLine[];
  localReply: LocalReply | undefined;
  /** Host calls by name. */
  hostCalls: Record<string, number>;
  /** Upstream: the headers of the attempt's response as the role left them; undefined where there was none. */
  responseHeaders?: HeaderMap | undefined;
}

/** An open request: what the downstream role did with it, and the means to run its attempts. */
export class SimulatedRequest {
  readonly action: HeadersAction;
  readonly writes: FilterStateWrite[];
  readonly logs: LogLine[];
  readonly localReply: LocalReply | undefined;
  readonly hostCalls: Record<string, number>;
  readonly routeCacheClears: RouteCacheClear[] = [];
  /** What the downstream role changed in the request's headers. */
  readonly headerChanges: HeaderChanges;
  /** The request's headers as they are now; upstream filters of every attempt share them. */
  readonly headers: HeaderMap;
  private responseHeaders: HeaderMap | undefined;
  private readonly filterStateMap = new Map<string, Uint8Array>();
  private readonly context: StreamContext;
  private readonly downstream: RootContext;

  constructor(
    private readonly host: WasmHost,
    private readonly spec: RequestSpec,
  ) {
    for (const [key, value] of Object.entries(spec.filterState ?? {})) this.filterStateMap.set(key, toBytes(value));
    this.headers = withPseudoHeaders(spec.headers);
    this.downstream = host.root("downstream");
    const before = this.headers.clone();
    const stream = new RequestStream(
      this.sharedState(),
      () => this.context,
      0n,
      {},
      (why) => this.routeCacheClears.push(why),
    );
    this.context = host.openStream(this.downstream, stream);
    const result = runRequestHeaders(host, this.context, stream, this.headers, spec.endOfStream ?? true);
    ({ action: this.action, writes: this.writes, logs: this.logs } = result);
    ({ localReply: this.localReply, hostCalls: this.hostCalls } = result);
    this.headerChanges = headerChanges(before, this.headers);
  }

  /** True when Envoy would resolve the route again before the router runs, for whatever reason. */
  get routeCacheCleared(): boolean {
    return this.routeCacheClears.length > 0;
  }

  /** Filter state `wasm.attempt_router.<slot>` as text, by slot name (`1`, `2`, …, `cluster`, …). */
  get slots(): Record<string, string> {
    const slots = [...this.filterStateMap].filter(([key]) => key.startsWith(SLOT_PREFIX));
    return Object.fromEntries(slots.map(([key, value]) => [key.slice(SLOT_PREFIX.length), toText(value)]));
  }

  /** All filter state under full keys. */
  get filterState(): ReadonlyMap<string, Uint8Array> {
    return this.filterStateMap;
  }

  /** Runs the upstream role for one attempt, its response included, and ends its context. */
  attempt(number: number, spec: AttemptSpec = {}): RoleResult {
    const attributes = { ...attemptAttributes(spec), ...spec.attributes };
    const stream: RequestStream = new RequestStream(
      this.sharedState(),
      () => context,
      BigInt(number),
      attributes,
      () => undefined,
    );
    const context = this.host.openStream(this.host.root("upstream"), stream);
    const result = runRequestHeaders(this.host, context, stream, this.headers, this.spec.endOfStream ?? true);
    const response = spec.response && runResponseHeaders(this.host, context, spec.response);
    endStream(this.host, context, ["proxy_on_done", "proxy_on_delete"]);
    return { ...result, writes: stream.writes, responseHeaders: response?.headers };
  }

  /** Runs the downstream role on the response's headers, which it may change. */
  respond(response: { status: number; headers?: HeadersInput }): { action: HeadersAction; headers: HeaderMap } {
    const result = runResponseHeaders(this.host, this.context, response);
    this.responseHeaders = result.headers;
    return result;
  }

  /** Ends the request: on_log, which sees the headers again, on_done, on_delete. Upstream there is no on_log. */
  end(): void {
    this.context.requestHeaders = this.headers;
    this.context.responseHeaders = this.responseHeaders;
    endStream(this.host, this.context, ["proxy_on_log", "proxy_on_done", "proxy_on_delete"]);
  }

  private sharedState(): SharedState {
    return { spec: this.spec, filterState: this.filterStateMap };
  }
}

interface SharedState {
  spec: RequestSpec;
  filterState: Map<string, Uint8Array>;
}

/** One role's view of a request: attributes and filter state. */
class RequestStream implements StreamHost {
  readonly writes: FilterStateWrite[] = [];

  constructor(
    private readonly shared: SharedState,
    private readonly context: () => StreamContext,
    private readonly attemptCount: bigint,
    private readonly extra: Readonly<Record<string, Scalar>>,
    readonly clearRouteCache: (reason: RouteCacheClear) => void,
  ) {}

  property(name: string): PropertyValue | undefined {
    const known = KNOWN_ATTRIBUTES[name]?.(this);
    if (known !== undefined || name in KNOWN_ATTRIBUTES) return this.withOverrides(name, known);
    return this.override(name) ?? this.shared.filterState.get(FILTER_STATE_PREFIX + name);
  }

  setProperty(path: string, value: Uint8Array): void {
    const key = FILTER_STATE_PREFIX + path;
    this.shared.filterState.set(key, value);
    this.writes.push({ key, value: toText(value) });
  }

  get spec(): RequestSpec {
    return this.shared.spec;
  }

  get filterState(): Record<string, Uint8Array> {
    return Object.fromEntries(this.shared.filterState);
  }

  get attempts(): bigint {
    return this.attemptCount;
  }

  get requestHeaders(): HeaderMap | undefined {
    return this.context().requestHeaders;
  }

  get responseHeaders(): HeaderMap | undefined {
    return this.context().responseHeaders;
  }

  private override(path: string): Scalar | undefined {
    return this.extra[path] ?? this.spec.attributes?.[path];
  }

  private withOverrides(name: string, value: PropertyValue | undefined): PropertyValue | undefined {
    if (value === undefined || typeof value !== "object" || value instanceof Uint8Array)
      return this.override(name) ?? value;
    return {
      child: (part) => this.override(`${name}.${part}`) ?? value.child(part),
      serialize: () => value.serialize(),
    };
  }
}

const KNOWN_ATTRIBUTES: Readonly<Record<string, (stream: RequestStream) => PropertyValue | undefined>> = {
  xds: (stream) => namespaceNode((part) => xdsAttribute(stream.spec, part)),
  metadata: (stream) => metadataNode(encodeMetadata(stream.spec.dynamicMetadata ?? {})),
  request: (stream) => namespaceNode((part) => requestAttribute(stream.requestHeaders, part)),
  response: (stream) => namespaceNode((part) => responseAttribute(stream, part)),
  upstream: (stream) => namespaceNode((part) => (part === "request_attempt_count" ? stream.attempts : undefined)),
  source: (stream) => namespaceNode((part) => sourceAttribute(stream.spec.sourceAddress ?? "127.0.0.1:50000", part)),
  destination: () => namespaceNode(() => undefined),
  connection: () => namespaceNode((part) => (part === "id" ? 1n : undefined)),
  connection_id: () => 1n,
  filter_state: (stream) => namespaceNode((part) => stream.filterState[part]),
  upstream_filter_state: () => undefined,
};

function xdsAttribute(spec: RequestSpec, part: string): PropertyValue | undefined {
  if (part === "virtual_host_name") return spec.virtualHostName ?? "";
  if (part === "virtual_host_metadata") return metadataNode(encodeMetadata(spec.virtualHostMetadata ?? {}));
  if (spec.route === false) return undefined;
  if (part === "route_name") return spec.routeName ?? "";
  if (part === "route_metadata") return metadataNode(encodeMetadata(spec.routeMetadata ?? {}));
  return part === "cluster_name" ? spec.clusterName : undefined;
}

function requestAttribute(headers: HeaderMap | undefined, part: string): PropertyValue | undefined {
  if (headers === undefined) return undefined;
  const path = headers.first(":path");
  switch (part) {
    case "headers":
      return headersNode(headers);
    case "protocol":
      return "HTTP/1.1";
    case "path":
      return path;
    case "url_path":
      return path?.split("?")[0];
    case "query":
      return path?.includes("?") === true ? path.slice(path.indexOf("?") + 1) : "";
    default:
      return headers.first(REQUEST_HEADER_ATTRIBUTES[part] ?? "");
  }
}

const REQUEST_HEADER_ATTRIBUTES: Readonly<Record<string, string>> = {
  method: ":method",
  host: ":authority",
  scheme: ":scheme",
  referer: "referer",
  useragent: "user-agent",
  id: "x-request-id",
};

function responseAttribute(stream: RequestStream, part: string): PropertyValue | undefined {
  const headers = stream.responseHeaders;
  if (headers === undefined) return undefined;
  // Upstream, where an attempt is counted, Envoy does not know the code: the module reads `:status`.
  if (part === "code") return stream.attempts === 0n ? BigInt(headers.first(":status") ?? 0) : undefined;
  return part === "headers" ? headersNode(headers) : undefined;
}

function sourceAttribute(address: string, part: string): PropertyValue | undefined {
  if (part === "address") return address;
  return part === "port" ? BigInt(address.slice(address.lastIndexOf(":") + 1)) : undefined;
}

function attemptAttributes(spec: AttemptSpec): Record<string, Scalar> {
  const attributes: Record<string, Scalar> = {};
  if (spec.clusterName !== undefined) attributes["xds.cluster_name"] = spec.clusterName;
  if (spec.upstreamAddress !== undefined) attributes["upstream.address"] = spec.upstreamAddress;
  return attributes;
}

function withPseudoHeaders(input: HeadersInput | undefined): HeaderMap {
  const headers = new HeaderMap(input);
  const defaults = { ":authority": "localhost", ":path": "/", ":method": "GET", ":scheme": "http" };
  const missing = Object.entries(defaults).filter(([name]) => headers.first(name) === undefined);
  return new HeaderMap([...missing, ...headers.pairs()]);
}

function runRequestHeaders(
  host: WasmHost,
  context: StreamContext,
  stream: RequestStream,
  headers: HeaderMap,
  endOfStream: boolean,
): RoleResult {
  const [logStart, callsBefore] = [host.logs.length, { ...host.hostCalls }];
  let action: HeadersAction = "continue";
  const failedBefore = host.failure !== undefined;
  if (!failedBefore) {
    host.createStream(context);
    context.requestHeaders = headers;
    const { returned, stopped } = host.callStream(
      "proxy_on_request_headers",
      context,
      headers.size,
      endOfStream ? 1 : 0,
    );
    action = headersAction(returned, stopped);
    if (action === "continue") context.requestHeaders = undefined;
  }
  if (host.failure !== undefined) ({ action } = failStream(context, failedBefore && host.failOpen));
  return {
    action,
    writes: stream.writes,
    logs: host.logs.slice(logStart),
    localReply: context.localReply,
    hostCalls: callsSince(host.hostCalls, callsBefore),
  };
}

/** A failed VM: the stream that trapped gets a 503 whatever the policy; later ones are let through or get it as well. */
function failStream(context: StreamContext, open: boolean): { action: HeadersAction } {
  if (open) return { action: "continue" };
  context.localReply ??= {
    status: 503,
    details: "wasm_fail_stream",
    body: new Uint8Array(0),
    headers: [],
    grpcStatus: 14,
  };
  return { action: "stop-all-and-watermark" };
}

function runResponseHeaders(
  host: WasmHost,
  context: StreamContext,
  response: { status: number; headers?: HeadersInput },
) {
  const headers = new HeaderMap(response.headers ?? []);
  headers.replace(":status", String(response.status));
  context.requestHeaders = undefined;
  context.responseHeaders = headers;
  const { returned, stopped } = host.callStream("proxy_on_response_headers", context, headers.size, 0);
  const action = headersAction(returned, stopped);
  if (action === "continue") context.responseHeaders = undefined;
  return { action, headers };
}

function endStream(host: WasmHost, context: StreamContext, callbacks: readonly string[]): void {
  for (const callback of context.created ? callbacks : []) {
    context.logging = callback === "proxy_on_log";
    host.callStream(callback, context);
    if (!context.logging) continue;
    context.requestHeaders = undefined;
    context.responseHeaders = undefined;
  }
  host.closeStream(context);
}

function callsSince(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  const differences = Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, count]) => count > 0));
}
