import { Bytes, encode } from "../bytes";
import { RequestView } from "../decide/request-view";
import { Fields } from "../settings/fields";
import { Route } from "../route/route";
import { OnRouteResult, RouteSpecifier, apply } from "../route/specifier";
import { Level, SpecifierContext, SpecifierType } from "../settings/specifier-type";
import { isHeaderName } from "../settings/header-transforms";

const VIRTUAL_HOST = encode(" virtual_host=");
const ROUTE = encode(" route=");
const CLUSTER = encode(" cluster=");
const NONE = encode("-");

/** `attempt_router.v1.Audit`: changes nothing; exports level, virtual host, route and cluster. */
@final
class Audit extends RouteSpecifier {
  constructor(
    private readonly logStart: Bytes | null,
    private readonly counter: Bytes | null,
    private readonly responseHeader: Bytes | null,
    private readonly level: Bytes,
  ) {
    super();
  }

  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    const counter = this.counter;
    if (counter != null) request.count(counter);
    const logStart = this.logStart;
    const header = this.responseHeader;
    if (logStart != null || header != null) {
      const text = this.describe(route, request, seed);
      if (logStart != null) request.log(logStart.concat<Bytes>(text));
      if (header != null) request.addResponseHeader(header, text);
    }
    return apply(route);
  }

  private describe(route: Route | null, request: RequestView, seed: u64): Bytes {
    let text = this.level.concat<Bytes>(VIRTUAL_HOST).concat<Bytes>(shown(request.virtualHost()));
    text = text.concat<Bytes>(ROUTE).concat<Bytes>(route != null ? shown(route.name) : NONE);
    const cluster = route != null ? clusterOf(route, request, seed) : NONE;
    return text.concat<Bytes>(CLUSTER).concat<Bytes>(shown(cluster));
  }
}

// The cluster of attempt 1 as the chain stands.
function clusterOf(route: Route, request: RequestView, seed: u64): Bytes {
  const cluster = route.cluster;
  if (cluster != null) return cluster;
  const groups = route.groups;
  if (groups != null) {
    const group = groups.groupOf(1);
    return unchecked(group.clusters[group.pick(seed)]);
  }
  const base = route.base;
  return base.isResolved ? request.resolvedCluster() : base.ownCluster;
}

// Names go into header values and log lines: what may not stand there, and white space, becomes "_".
function shown(name: Bytes): Bytes {
  if (name.length == 0) return NONE;
  const copy = name.slice<Bytes>();
  for (let i = 0; i < copy.length; i++) {
    if (copy[i] <= 0x20 || copy[i] == 0x7f) copy[i] = 0x5f;
  }
  return copy;
}

@final
export class AuditType extends SpecifierType {
  constructor() {
    super("attempt_router.v1.Audit");
  }

  read(fields: Fields, context: SpecifierContext): RouteSpecifier {
    const counter = fields.text("counter");
    const header = fields.text("response_header");
    if (header.length > 0 && !isHeaderName(header)) {
      fields.note("response_header", "a header name", '"' + header + '"');
    }
    const logs = fields.flag("log");
    return new Audit(
      logs ? encode("audit " + context.name + ": ") : null,
      counter.length > 0 ? encode("attempt_router.audit." + counter) : null,
      header.length > 0 ? encode(header) : null,
      encode("level=" + levelName(context.level)),
    );
  }
}

function levelName(level: Level): string {
  if (level == Level.ROUTE_CONFIGURATION) return "route_configuration";
  return level == Level.VIRTUAL_HOST ? "virtual_host" : "route";
}
