/**
 * A bootstrap with `routes` priority-group routes, each with a chain of its own, and `clusters` clusters, all of them
 * on `port` of the loopback. Route i (0-based) matches the prefix `/route-<i>/`.
 */
export function largeBootstrap(routes: number, clusters: number, port = 1): string {
  const lines = [
    "static_resources:",
    "  listeners:",
    "  - name: ingress",
    "    address: {socket_address: {address: 127.0.0.1, port_value: 0}}",
    "    filter_chains:",
    "    - filters:",
    "      - name: envoy.filters.network.http_connection_manager",
    "        typed_config:",
    `          "@type": ${TYPES}filters.network.http_connection_manager.v3.HttpConnectionManager`,
    "          stat_prefix: ingress",
    "          route_config:",
    "            name: large",
    "            virtual_hosts:",
    "            - name: all",
    '              domains: ["*"]',
    "              routes:",
    ...range(routes).flatMap((index) => route(index, clusters)),
    "          http_filters:",
    "          - name: envoy.filters.http.router",
    `            typed_config: {"@type": ${TYPES}filters.http.router.v3.Router}`,
    "  clusters:",
    ...range(clusters).flatMap((index) => cluster(index, port)),
  ];
  return `${lines.join("\n")}\n`;
}

const TYPES = "type.googleapis.com/envoy.extensions.";

function route(index: number, clusters: number): string[] {
  const name = (step: number): string => `cluster-${(index * 10 + step) % clusters}`;
  return [
    `              - match: {prefix: "/route-${index}/"}`,
    `                name: route-${index}`,
    "                route:",
    "                  inline_cluster_specifier_plugin:",
    "                    extension:",
    "                      name: envoy.router.cluster_specifier_plugin.priority_group",
    "                      typed_config:",
    `                        "@type": ${TYPES}router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    "                        priority_groups:",
    ...range(3).flatMap((group) => [
      `                        - name: group-${group}`,
      "                          clusters:",
      ...range(3).flatMap((step) => [
        `                          - cluster_name: ${name(group * 3 + step)}`,
        `                            weight: ${step + 1}`,
      ]),
    ]),
    "                  retry_policy: {retry_on: 5xx, num_retries: 3, refresh_cluster_on_retry: true}",
  ];
}

function cluster(index: number, port: number): string[] {
  return [
    `  - name: cluster-${index}`,
    "    connect_timeout: 1s",
    "    load_assignment:",
    `      cluster_name: cluster-${index}`,
    "      endpoints:",
    "      - lb_endpoints:",
    "        - endpoint:",
    "            address:",
    `              socket_address: {address: 127.0.0.1, port_value: ${port}}`,
  ];
}

function range(count: number): number[] {
  return [...Array(count).keys()];
}
