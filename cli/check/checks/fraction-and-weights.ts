import type { Check } from "../check.js";

export const fractionAndWeights: Check = {
  code: "fraction-and-weights",
  severity: "warning",
  title: "a fraction and weights that use one random value",
  why: "Envoy compares runtime_fraction with the same random value of the request that weights are picked by: among the requests that pass the fraction, the shares are not those of the weights",
  find(context) {
    return context.fallbacks
      .filter(({ route, attempts }) => {
        const weighted = attempts.groups.some(({ clusters }) => clusters.length > 1);
        const { runtimeFraction } = route.match;
        const part = runtimeFraction !== undefined && runtimeFraction.numerator < runtimeFraction.denominator;
        return part && weighted && attempts.random.kind === "internal";
      })
      .map(({ route, attempts }) => ({
        at: route.match.runtimeFraction ?? attempts,
        message: "runtime_fraction on a route whose groups have weights",
        fix: "give the specifier a header_name or a hash policy, or move the split into the weights",
      }));
  },
};
