// Which virtual host a request belongs to: Envoy's order.

import type { RouteConfiguration, VirtualHost } from "../model/index.js";
import { headerLines, type ExplainedRequest } from "./request.js";

export interface HostChoice {
  /** Undefined: none, so the request gets 404. */
  readonly host: VirtualHost | undefined;
  readonly because: string;
}

/** The virtual host whose domain fits best: exact, then the longest `*suffix`, then the longest `prefix*`, then `*`. */
export function chooseVirtualHost(configuration: RouteConfiguration, request: ExplainedRequest): HostChoice {
  const { vhostHeader, ignorePortInHostMatching } = configuration;
  const given = vhostHeader === undefined ? request.authority : headerLines(request, vhostHeader.value)[0];
  const what = vhostHeader === undefined ? "authority" : `header ${vhostHeader.value}`;
  const lower = (given ?? "").toLowerCase();
  const name = ignorePortInHostMatching ? lower.replace(/:\d+$/, "") : lower;
  const best = bestDomain(configuration.virtualHosts, name);
  if (best === undefined)
    return { host: undefined, because: `no virtual host has a domain for ${what} ${JSON.stringify(name)}` };
  return { host: best.host, because: `${what} ${JSON.stringify(name)} fits the domain ${JSON.stringify(best.domain)}` };
}

interface Candidate {
  host: VirtualHost;
  domain: string;
  rank: number;
}

function bestDomain(hosts: readonly VirtualHost[], name: string): Candidate | undefined {
  let best: Candidate | undefined;
  for (const host of hosts) {
    for (const { value } of host.domains) {
      const domain = value.toLowerCase();
      const rank = rankOf(domain, name);
      if (rank === undefined || (best !== undefined && best.rank >= rank)) continue;
      best = { host, domain: value, rank };
    }
  }
  return best;
}

const EXACT = 3e6;
const SUFFIX = 2e6;
const PREFIX = 1e6;

/** A higher number wins; undefined: the domain does not fit. A wildcard stands for at least one character. */
function rankOf(domain: string, name: string): number | undefined {
  if (domain === "*") return 0;
  if (domain === name) return EXACT;
  if (name.length < domain.length) return undefined;
  if (domain.startsWith("*")) return name.endsWith(domain.slice(1)) ? SUFFIX + domain.length : undefined;
  if (domain.endsWith("*")) return name.startsWith(domain.slice(0, -1)) ? PREFIX + domain.length : undefined;
  return undefined;
}
