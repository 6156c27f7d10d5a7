import { Bytes, View, encode } from "../../assembly/bytes";
import {
  Fields,
  HeaderName,
  OnRouteResult,
  RequestView,
  Route,
  RouteSpecifier,
  SpecifierContext,
  SpecifierType,
  apply,
  pass,
  wrap,
} from "../../assembly/specifiers/specifier";

// One request is looked at a time, and nothing of it stays here.
const tenant = new View();

/** Sends the requests of each tenant to a cluster of its own; those of unknown tenants stay where they are. */
@final
class TenantTable extends RouteSpecifier {
  constructor(
    private readonly header: HeaderName,
    private readonly tenants: StaticArray<Bytes>,
    private readonly clusters: StaticArray<Bytes>,
  ) {
    super();
  }

  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    // No route, a redirect, a direct response: nothing to override.
    if (route == null || !route.hasEntry) return pass(route);
    if (!request.firstLine(this.header, tenant)) return pass(route);
    const index = this.find(tenant);
    request.release(tenant);
    if (index < 0) return pass(route);
    const result = wrap(route);
    result.setCluster(unchecked(this.clusters[index]));
    return apply(result);
  }

  private find(name: View): i32 {
    const tenants = this.tenants;
    for (let i = 0; i < tenants.length; i++) {
      if (name.equals(unchecked(tenants[i]))) return i;
    }
    return -1;
  }
}

/**
 * `type.googleapis.com/example.v1.TenantTable`: `header`, the request header that names the tenant, and
 * `tenants: [{name, cluster}]`.
 */
@final
export class TenantTableType extends SpecifierType {
  constructor() {
    super("example.v1.TenantTable");
  }

  read(fields: Fields, context: SpecifierContext): RouteSpecifier {
    const header = new HeaderName(fields.requiredText("header"));
    const rows = fields.requiredList("tenants", "tenant");
    const tenants = new StaticArray<Bytes>(rows.length);
    const clusters = new StaticArray<Bytes>(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const row = fields.element("tenants", i, rows[i]);
      tenants[i] = encode(row.requiredText("name"));
      clusters[i] = encode(row.requiredText("cluster"));
      row.finish();
    }
    return new TenantTable(header, tenants, clusters);
  }
}
