import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const noSni: Check = {
  code: "no-sni",
  severity: "warning",
  title: "TLS to a provider without a server name",
  why: "Without sni or auto_sni Envoy sends no server name: providers that serve several names refuse the handshake or show another certificate",
  find(context) {
    return context.fallbacks.flatMap((route) =>
      context
        .clustersOf(route)
        .filter(
          ({ tls, protocolOptions, providerHost }) =>
            tls !== undefined &&
            tls.sni === undefined &&
            providerHost === undefined &&
            protocolOptions?.autoSni !== true,
        )
        .map((cluster) => ({
          at: cluster.tls ?? cluster,
          message: `cluster ${quoted(cluster.name?.value ?? "")} uses TLS without sni`,
          fix: "write sni into its UpstreamTlsContext",
        })),
    );
  },
};
