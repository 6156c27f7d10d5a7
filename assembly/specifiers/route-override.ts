import { Bytes, NOTHING, View, encode } from "../bytes";
import { readMetadata } from "../decide/condition";
import { Group, group } from "../decide/group";
import { MAX_NAME } from "../decide/override";
import { Plan } from "../decide/plan";
import { HeaderName, RequestView } from "../decide/request-view";
import { Fields } from "../settings/fields";
import { readGroups } from "../settings/groups";
import { readHeaderTransforms } from "../settings/header-transforms";
import { compileGroups } from "../settings/compile";
import { ValueKind, ValueView } from "../wire/value-view";
import { decimal } from "../text";
import { RetryOverride, Route, wrap } from "../route/route";
import { OnRouteResult, RouteSpecifier, apply, pass } from "../route/specifier";
import { SpecifierContext, SpecifierType } from "../settings/specifier-type";

const text = new View();
const value = new ValueView();

/** `attempt_router.v1.RouteOverride`: the route it was given with some properties replaced. */
@final
class RouteOverride extends RouteSpecifier {
  cluster: ClusterChoice | null = null;
  groups: Plan | null = null;
  timeout: Bytes | null = null;
  retry: RetryOverride | null = null;
  request: Bytes = NOTHING;
  response: Bytes = NOTHING;

  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    if (route == null || !route.hasEntry) return pass(route);
    const result = wrap(route);
    const choice = this.cluster;
    if (choice != null) {
      const cluster = choice.of(request, seed);
      if (cluster != null) result.setCluster(cluster);
    }
    const groups = this.groups;
    if (groups != null) result.setGroups(groups);
    const timeout = this.timeout;
    if (timeout != null) result.setTimeoutBytes(timeout);
    const retry = this.retry;
    if (retry != null) result.setRetry(retry);
    result.transformRequest(this.request);
    result.transformResponse(this.response);
    return apply(result);
  }

  get replacesNothing(): bool {
    const routing = this.cluster != null || this.groups != null || this.timeout != null || this.retry != null;
    return !routing && this.request.length == 0 && this.response.length == 0;
  }
}

/** How the one cluster of a request is found. */
abstract class ClusterChoice {
  /** Null where the request does not say: the cluster then stays as it is. */
  abstract of(request: RequestView, seed: u64): Bytes | null;
}

@final
class WeightedClusters extends ClusterChoice {
  constructor(private readonly clusters: Group) {
    super();
  }

  of(request: RequestView, seed: u64): Bytes | null {
    return unchecked(this.clusters.clusters[this.clusters.pick(seed)]);
  }
}

@final
class ClusterHeader extends ClusterChoice {
  constructor(private readonly name: HeaderName) {
    super();
  }

  of(request: RequestView, seed: u64): Bytes | null {
    if (!request.firstLine(this.name, text)) return null;
    const cluster: Bytes | null = text.length > 0 ? text.copy() : null;
    request.release(text);
    return cluster;
  }
}

@final
class ClusterMetadata extends ClusterChoice {
  constructor(
    private readonly namespace: Bytes,
    private readonly path: StaticArray<Bytes>,
  ) {
    super();
  }

  of(request: RequestView, seed: u64): Bytes | null {
    readMetadata(request.metadata(), this.namespace, this.path, value);
    if (value.kind != ValueKind.STRING || !isHeaderValue(value.bytes)) return null;
    return value.bytes.copy();
  }
}

// The name travels to the route in a header of its own; what cannot stand there is the name of no cluster.
function isHeaderValue(name: View): bool {
  for (let i = 0; i < name.length; i++) {
    const char = name.at(i);
    if (char == 0 || char == 0x0a || char == 0x0d) return false;
  }
  return name.length > 0 && name.length <= MAX_NAME;
}

@final
export class RouteOverrideType extends SpecifierType {
  constructor() {
    super("attempt_router.v1.RouteOverride");
  }

  read(fields: Fields, context: SpecifierContext): RouteSpecifier {
    const result = new RouteOverride();
    readCluster(fields, context.name, result);
    const timeout = fields.duration("timeout");
    if (timeout >= 0) result.timeout = encode(decimal(timeout));
    const retry = fields.object("retry_policy");
    if (retry != null) result.retry = readRetry(retry);
    result.request = readHeaderTransforms(fields, "request_headers_to_add", "request_headers_to_remove");
    result.response = readHeaderTransforms(fields, "response_headers_to_add", "response_headers_to_remove");
    if (result.replacesNothing) fields.note("", "a property to replace", "none");
    return result;
  }
}

function readCluster(fields: Fields, name: string, out: RouteOverride): void {
  let forms = 0;
  if (fields.has("cluster")) {
    out.cluster = new WeightedClusters(single(fields.requiredText("cluster")));
    forms++;
  }
  if (fields.has("weighted_clusters")) {
    out.cluster = new WeightedClusters(readWeighted(fields));
    forms++;
  }
  if (fields.has("cluster_header")) {
    out.cluster = new ClusterHeader(new HeaderName(fields.requiredText("cluster_header")));
    forms++;
  }
  const metadata = fields.object("cluster_metadata");
  if (metadata != null) {
    out.cluster = new ClusterMetadata(encode(metadata.requiredText("namespace")), metadata.bytesList("path", true));
    metadata.finish();
    forms++;
  }
  const namespace = fields.text("override_metadata_namespace");
  if (fields.has("priority_groups")) {
    out.groups = readChain(fields, name, namespace);
    forms++;
  }
  if (forms > 1) {
    const known = "cluster, weighted_clusters, cluster_header, cluster_metadata, priority_groups";
    fields.note("", "at most one of " + known, decimal(forms) + " of them");
  }
}

function single(cluster: string): Group {
  return group(NOTHING, [encode(cluster)], [1]);
}

function readWeighted(fields: Fields): Group {
  const items = fields.requiredList("weighted_clusters", "cluster");
  const clusters = new StaticArray<Bytes>(items.length);
  const weights = new StaticArray<u32>(items.length);
  let total: u64 = 0;
  for (let i = 0; i < items.length; i++) {
    const item = fields.element("weighted_clusters", i, items[i]);
    clusters[i] = encode(item.requiredText("name"));
    weights[i] = item.requiredWhole("weight", 0, u32.MAX_VALUE);
    total += weights[i];
    item.finish();
  }
  if (items.length > 0 && total > 0) return group(NOTHING, clusters, weights);
  fields.note("weighted_clusters", "weights whose sum is at least 1", "a sum of 0");
  return single("");
}

function readChain(fields: Fields, name: string, namespace: string): Plan {
  const plan = new Plan(encode(name), compileGroups(readGroups(fields)));
  plan.slots = plan.groups.length;
  if (namespace.length > 0) plan.overrideNamespace = encode(namespace);
  return plan;
}

function readRetry(fields: Fields): RetryOverride {
  const retry = new RetryOverride();
  retry.retryOn = encode(fields.text("retry_on"));
  const count: u32 = fields.has("num_retries") ? fields.whole("num_retries", 0, u32.MAX_VALUE) : 1;
  retry.numRetries = encode(decimal(count));
  const perTry = fields.duration("per_try_timeout");
  if (perTry >= 0) retry.perTryTimeout = encode(decimal(perTry));
  const codes = fields.list("retriable_status_codes");
  let joined = "";
  for (let i = 0; i < codes.length; i++) {
    const code = fields.wholeElement("retriable_status_codes", i, codes[i], 100, 599);
    joined += (i > 0 ? "," : "") + decimal(code);
  }
  retry.retriableStatusCodes = encode(joined);
  fields.finish();
  return retry;
}
