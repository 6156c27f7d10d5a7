import { onDownstreamRequest } from "../../assembly/roles/downstream";
import { FakeHost } from "../../assembly/host/fake";
import { registerSpecifier } from "../../assembly/specifiers/registry";
import { hostOnRoute } from "../../tests/unit/support/settings";
import { entry, listValue, stringValue, structValue } from "../../tests/unit/support/wire";
import { TenantTableType } from "./tenant-table";

registerSpecifier(new TenantTableType());

function row(name: string, cluster: string): Uint8Array {
  return structValue([entry("name", stringValue(name)), entry("cluster", stringValue(cluster))]);
}

// What `lower` writes into the metadata of a route with this specifier.
function settings(rows: Uint8Array[]): Uint8Array {
  const config = structValue([
    entry("@type", stringValue("type.googleapis.com/example.v1.TenantTable")),
    entry("header", stringValue("x-tenant")),
    entry("tenants", listValue(rows)),
  ]);
  const specifier = structValue([entry("name", stringValue("tenants")), entry("typed_config", config)]);
  const resolved = structValue([entry("pin", stringValue("the route"))]);
  return entry("route_specifiers", structValue([entry("route", listValue([specifier])), entry("resolved", resolved)]));
}

function requestOf(name: string, tenant: string): FakeHost {
  const host = hostOnRoute(name, settings([row("acme", "cluster_a"), row("globex", "cluster_b")]));
  if (tenant.length > 0) host.headers.push(["x-tenant", tenant]);
  onDownstreamRequest(host);
  expect(host.lent).toBe(0, "everything that was read was handed back");
  return host;
}

describe("a tenant table", () => {
  test("sends each tenant to its cluster", () => {
    const host = requestOf("r@ar-000000000000000000000000000000f1", "globex");
    expect(host.state("attempt_router.route")).toBe("the route#c");
    expect(host.headers[1][1]).toBe("cluster_b");
    expect(host.cleared).toBe(1);
  });

  test("leaves other requests where they are", () => {
    expect(requestOf("r@ar-000000000000000000000000000000f1", "initech").cleared).toBe(0);
    expect(requestOf("r@ar-000000000000000000000000000000f1", "").cleared).toBe(0);
  });

  test("says what is wrong with its settings", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000f2", settings([row("acme", "")]));
    onDownstreamRequest(host);
    expect(host.logs[0]).toBe(
      'settings of route "r@ar-000000000000000000000000000000f2": route_specifiers.route[0].typed_config.tenants[0].cluster: ' +
        'expected a string that is not empty, found ""',
    );
  });
});
