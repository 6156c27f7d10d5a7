import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { moduleOnly } from "./module-only.js";

const ADMIN = "attempt_router_admin";
const PATH = "/clusters?filter=";
const IS_GET: Json = { header: { name: ":method", string_match: { exact: "GET" } } };
const ASKS_FOR_CLUSTERS: Json = { header: { name: ":path", string_match: { prefix: PATH } } };
/** Addresses that mean "on every interface", and the one by which Envoy reaches itself there. */
const LOOPBACK: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The cluster through which the module reads the admin interface of the bootstrap. */
export function adminCluster(root: Cursor, findings: Finding[]): Json {
  const endpoint = { address: adminAddress(root, findings) };
  checkAllowed(root, findings);
  return {
    name: ADMIN,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: { cluster_name: ADMIN, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    ...moduleOnly([{ and_rules: { rules: [IS_GET, ASKS_FOR_CLUSTERS] } }]),
  };
}

function adminAddress(root: Cursor, findings: Finding[]): Json {
  const address = root.at("admin", "address");
  const pipe = address?.at("pipe", "path")?.string();
  if (pipe !== undefined) return { pipe: { path: pipe } };
  const socket = address?.field("socket_address");
  const host = socket?.field("address")?.string() ?? "";
  const port = socket?.field("port_value")?.json();
  if (host === "" || typeof port !== "number" || port === 0) {
    const message = "expected an admin address with a fixed port, which availability: ADMIN needs, found none";
    findings.push(root.findingBelow(["admin", "address"], message));
  }
  return { socket_address: { address: LOOPBACK[host] ?? host, port_value: port ?? 0 } };
}

/** The paths are matched together with their query. */
function checkAllowed(root: Cursor, findings: Finding[]): void {
  const allowed = root.at("admin", "allow_paths");
  if (allowed === undefined) return;
  const fits = allowed.items().some((matcher) => {
    const prefix = matcher.field("prefix")?.string();
    return (prefix !== undefined && PATH.startsWith(prefix)) || matcher.field("safe_regex") !== undefined;
  });
  if (fits) return;
  findings.push(
    allowed.finding(`expected the prefix ${PATH} among the allowed paths, which availability: ADMIN needs`),
  );
}
