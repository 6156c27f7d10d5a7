// What the specification and the contract say about a chain of route specifiers, written down a second time and in
// another way than the module: as plain functions over JSON, without a line in common with it.

type Json = Record<string, unknown>;

export interface ModelRequest {
  method: string;
  path: string;
  /** Lines by lower-case name. */
  headers: Record<string, string[]>;
  metadata: Record<string, Json>;
  seed: bigint;
}

export interface ModelRoute {
  pin: string;
  entry: boolean;
  cluster?: string;
  groups?: Json[];
  timeout?: string;
  retry?: Json;
  transforms: { request: Json[]; response: Json[] };
}

interface Configured {
  type: string;
  config: Json;
}

/** The final route, or null; `given` is the resolved route. */
export function finalRoute(chain: Configured[], given: ModelRoute | null, request: ModelRequest): ModelRoute | null {
  const [step, ...rest] = chain;
  if (step === undefined) return given;
  const when = step.config["when"] as Json | undefined;
  if (when !== undefined && !holds(when, given !== null, request)) return finalRoute(rest, given, request);
  const next = runOne(step, given, request);
  const applied = next !== "not applied";
  const route = next === "not applied" ? given : next;
  return applied && step.config["final"] === true ? route : finalRoute(rest, route, request);
}

function runOne({ type, config }: Configured, given: ModelRoute | null, request: ModelRequest) {
  if (type === "Audit") return given;
  if (type === "DropRoute") return null;
  if (type === "RouteTemplate") return templateOf(config, request);
  return given?.entry === true ? overridden(given, config, request) : "not applied";
}

function templateOf(config: Json, request: ModelRequest): ModelRoute | "not applied" {
  const templates = config["templates"] as { template_id: string; route: Json }[];
  const route: Json = templates.find(({ template_id }) => template_id === config["template_id"])?.route ?? {};
  const match = route["match"] as Json | undefined;
  if (match !== undefined && !holds(match, true, request)) return "not applied";
  return { pin: route["pin"] as string, entry: route["no_entry"] !== true, transforms: { request: [], response: [] } };
}

function overridden(given: ModelRoute, config: Json, request: ModelRequest): ModelRoute {
  const route: ModelRoute = { ...given };
  const cluster = clusterOf(config, request);
  if (cluster !== undefined) {
    route.cluster = cluster;
    delete route.groups;
  }
  if (config["priority_groups"] !== undefined) {
    route.groups = config["priority_groups"] as Json[];
    delete route.cluster;
  }
  if (config["timeout"] !== undefined)
    route.timeout = String(Math.floor(parseFloat(config["timeout"] as string) * 1e3));
  if (config["retry_policy"] !== undefined) route.retry = config["retry_policy"] as Json;
  const pick = (field: string) => ({
    add: config[`${field}_headers_to_add`] ?? [],
    remove: config[`${field}_headers_to_remove`] ?? [],
  });
  route.transforms = {
    request: [...given.transforms.request, pick("request")],
    response: [...given.transforms.response, pick("response")],
  };
  return route;
}

function clusterOf(config: Json, request: ModelRequest): string | undefined {
  if (config["cluster"] !== undefined) return config["cluster"] as string;
  const weighted = config["weighted_clusters"] as { name: string; weight: number }[] | undefined;
  if (weighted !== undefined) return weightedPick(weighted, request.seed);
  const header = config["cluster_header"] as string | undefined;
  if (header !== undefined) return request.headers[header]?.[0] || undefined;
  const metadata = config["cluster_metadata"] as { namespace: string; path: string[] } | undefined;
  if (metadata === undefined) return undefined;
  const value = lookUp(request, metadata.namespace, metadata.path);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function weightedPick(clusters: { name: string; weight: number }[], seed: bigint): string {
  const tickets = clusters.flatMap(({ name, weight }) => Array.from({ length: weight }, () => name));
  return tickets[Number(seed % BigInt(tickets.length))] ?? "";
}

function lookUp(request: ModelRequest, namespace: string, path: string[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json)[step] : undefined,
    request.metadata[namespace],
  );
}

/** Whether a condition holds; all that is set must. */
export function holds(condition: Json, resolved: boolean, request: ModelRequest): boolean {
  return Object.entries(condition).every(([field, wanted]) => {
    switch (field) {
      case "route_resolved":
        return wanted === resolved;
      case "methods":
        return (wanted as string[]).includes(request.method);
      case "path":
        return textMatches(wanted as Json, request.path.split(/[?#]/)[0] ?? "");
      case "headers":
        return (wanted as Json[]).every((one) => headerHolds(one, request));
      case "query_parameters":
        return (wanted as Json[]).every((one) => parameterHolds(one, request.path));
      case "metadata":
        return (wanted as Json[]).every((one) => metadataHolds(one, request));
      case "fraction": {
        const { numerator = 0, denominator = "HUNDRED" } = wanted as { numerator?: number; denominator?: string };
        const of = { HUNDRED: 100n, TEN_THOUSAND: 10_000n, MILLION: 1_000_000n }[denominator] ?? 1n;
        return request.seed % of < BigInt(numerator);
      }
      case "any_of":
        return (wanted as Json[]).length === 0 || (wanted as Json[]).some((one) => holds(one, resolved, request));
      case "not":
        return !holds(wanted as Json, resolved, request);
      default:
        throw new Error(`the model has no condition ${field}`);
    }
  });
}

export function textMatches(match: Json, value: string): boolean {
  const fold = (text: string) => (match["ignore_case"] === true ? text.toLowerCase() : text);
  const tests: Record<string, (text: string) => boolean> = {
    exact: (text) => fold(value) === text,
    prefix: (text) => fold(value).startsWith(text),
    suffix: (text) => fold(value).endsWith(text),
    contains: (text) => fold(value).includes(text),
  };
  return Object.entries(tests).every(([kind, test]) => match[kind] === undefined || test(fold(match[kind] as string)));
}

function headerHolds(matcher: Json, request: ModelRequest): boolean {
  const lines = request.headers[(matcher["name"] as string).toLowerCase()];
  const values = lines ?? (matcher["treat_missing_header_as_empty"] === true ? [""] : []);
  const invert = matcher["invert_match"] === true;
  const match = matcher["string_match"] as Json | undefined;
  if (match === undefined) return values.length > 0 === ((matcher["present_match"] ?? true) !== invert);
  return values.length > 0 && values.some((value) => textMatches(match, value)) !== invert;
}

/** Of several parameters of a name the first one counts. */
export function parameterHolds(matcher: Json, path: string): boolean {
  const [, query = ""] = /\?(.*)$/.exec(path) ?? [];
  const parameters = query === "" ? [] : query.split("&").map((text) => /^([^=]*)=?(.*)$/.exec(text) ?? []);
  const value = parameters.find(([, name]) => name === matcher["name"])?.[2];
  const match = matcher["string_match"] as Json | undefined;
  if (match === undefined) return (value !== undefined) === (matcher["present_match"] ?? true);
  return value !== undefined && textMatches(match, value);
}

export function metadataHolds(matcher: Json, request: ModelRequest): boolean {
  const found = lookUp(request, matcher["namespace"] as string, matcher["path"] as string[]);
  return valueMatches(matcher["value"] as Json, found) !== (matcher["invert"] === true);
}

function valueMatches(match: Json, found: unknown): boolean {
  if (match["string_match"] !== undefined)
    return typeof found === "string" && textMatches(match["string_match"] as Json, found);
  if (match["bool_match"] !== undefined) return found === match["bool_match"];
  if (match["present_match"] !== undefined)
    return (found !== undefined && (found === null || typeof found !== "object")) === match["present_match"];
  const { exact, range } = match["double_match"] as { exact?: number; range?: { start: number; end: number } };
  if (typeof found !== "number") return false;
  return range === undefined ? found === exact : found >= range.start && found < range.end;
}

/** The lines of a header map after transforms: removals, then overwrites, then additions of each specifier in turn. */
export function transformed(headers: Record<string, string[]>, transforms: Json[]): Record<string, string[]> {
  const result = structuredClone(headers);
  for (const { add, remove } of transforms as { add: Json[]; remove: string[] }[]) {
    for (const name of remove) Reflect.deleteProperty(result, name);
    const isOverwrite = (option: Json) => String(option["append_action"]).startsWith("OVERWRITE");
    for (const option of [...add.filter(isOverwrite), ...add.filter((one) => !isOverwrite(one))]) {
      const { key, value } = option["header"] as { key: string; value: string };
      const action = (option["append_action"] as string | undefined) ?? "APPEND_IF_EXISTS_OR_ADD";
      const exists = result[key] !== undefined;
      if (action === "OVERWRITE_IF_EXISTS_OR_ADD" || (action === "OVERWRITE_IF_EXISTS" && exists))
        result[key] = [value];
      if (action === "APPEND_IF_EXISTS_OR_ADD" || (action === "ADD_IF_ABSENT" && !exists)) {
        result[key] = [...(result[key] ?? []), value];
      }
    }
  }
  return result;
}
