import type { Check } from "../check.js";
import { quoted } from "../context.js";
import { type Cluster } from "../../model/index.js";

export const credentialsStay: Check = {
  code: "credentials-stay",
  severity: "error",
  title: "a provider's credentials reach the next provider",
  why: "All attempts share one set of request headers: what the filters of the first cluster set is still there when the next cluster is tried, unless that one removes or overwrites it",
  find(context) {
    return context.fallbacks.flatMap((route) => {
      const clusters = context.clustersOf(route);
      return clusters.flatMap((from) => {
        const set = credentialHeaders(from);
        return [...set].flatMap((header) => {
          const open = clusters.filter((to) => to !== from && !mentions(to, header));
          if (open.length === 0) return [];
          const names = open.map((to) => quoted(to.name?.value ?? "")).join(", ");
          return [
            {
              at: from.protocolOptions?.filters ?? from,
              message: `cluster ${quoted(from.name?.value ?? "")} sets header ${quoted(header)}, which ${names} of the same chain would get too`,
              fix: `remove ${header} in the upstream filters of every cluster of the chain, and then set it where it is needed`,
            },
          ];
        });
      });
    });
  },
};

/** Headers that the upstream filters of a cluster set, as far as a header mutation or a credential injector says so. */
function credentialHeaders({ protocolOptions }: Cluster): Set<string> {
  const text = JSON.stringify((protocolOptions?.filters?.filters ?? []).map(({ config }) => config?.value ?? null));
  const set = [...text.matchAll(/"header":\{"key":"([^"]+)"/g)].map((match) => (match[1] ?? "").toLowerCase());
  const injects = (protocolOptions?.filters?.filters ?? []).some(
    ({ type }) => type?.endsWith(".CredentialInjector") === true,
  );
  return new Set([...set, ...(injects ? ["authorization"] : [])].filter((name) => SECRET.test(name)));
}

const SECRET = /authorization|api[-_]?key|token|secret|credential|cookie/;

/** Whether a cluster's upstream filters do something about a header, in whatever way. */
function mentions({ protocolOptions }: Cluster, header: string): boolean {
  const filters = protocolOptions?.filters?.filters ?? [];
  const text = JSON.stringify(filters.map(({ config }) => config?.value ?? null)).toLowerCase();
  const injects =
    header === "authorization" && filters.some(({ type }) => type?.endsWith(".CredentialInjector") === true);
  return injects || text.includes(header);
}
