type Json = Record<string, unknown>;

/** A static cluster with an endpoint at each port. */
export function staticCluster(name: string, ports: readonly number[], address = "127.0.0.1"): Json {
  return { name, type: "STATIC", connect_timeout: "1s", load_assignment: assignment(name, ports, address) };
}

/** A ClusterLoadAssignment; without ports one without endpoints. */
export function assignment(cluster_name: string, ports: readonly number[], address = "127.0.0.1"): Json {
  const lb_endpoints = ports.map((port_value) => ({
    endpoint: { address: { socket_address: { address, port_value } } },
  }));
  return { cluster_name, endpoints: lb_endpoints.length === 0 ? [] : [{ lb_endpoints }] };
}
