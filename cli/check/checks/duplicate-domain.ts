import type { Check } from "../check.js";
import { quoted } from "../context.js";
import { routeConfigurationsOf } from "../../model/index.js";

export const duplicateDomain: Check = {
  code: "duplicate-domain",
  severity: "error",
  title: "one domain in two virtual hosts",
  why: "Envoy refuses a route configuration that has a domain twice",
  find(context) {
    return routeConfigurationsOf(context.program).flatMap(({ virtualHosts }) => {
      const seen = new Set<string>();
      return virtualHosts
        .flatMap(({ domains }) => domains)
        .filter(({ value }) => {
          const known = seen.has(value.toLowerCase());
          seen.add(value.toLowerCase());
          return known;
        })
        .map((at) => ({
          at,
          message: `the domain ${quoted(at.value)} stands in a virtual host before`,
          fix: "keep it in one virtual host",
        }));
    });
  },
};
