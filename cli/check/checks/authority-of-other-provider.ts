import type { Check } from "../check.js";

export const authorityOfOtherProvider: Check = {
  code: "authority-of-other-provider",
  severity: "warning",
  title: "one authority for providers with different names",
  why: "A request keeps the client's authority for every attempt unless the route rewrites it: providers behind TLS that serve several names answer 404 or 421, or refuse the handshake",
  find(context) {
    return context.fallbacks.flatMap((route) => {
      const rewrites = Object.keys(route.action.rewrites).filter((field) => /host/.test(field));
      const names = new Set(
        context
          .clustersOf(route)
          .flatMap(({ tls, providerHost }) =>
            tls?.sni === undefined || providerHost !== undefined ? [] : [tls.sni.value],
          ),
      );
      const fixed = rewrites.filter((field) => /literal/.test(field));
      if (names.size < 2 || (rewrites.length > 0 && fixed.length === 0)) return [];
      return [
        {
          at: route.action,
          message: `the clusters of the route are reached as ${[...names].join(", ")}, and the authority is the same for all of them`,
          fix: "write provider: {host: …} into the metadata of each cluster, or auto_host_rewrite: true into the route and a hostname into each endpoint",
        },
      ];
    });
  },
};
