import type { Check } from "../check.js";
import { quoted, withPolicy } from "../context.js";

export const headerOfFirstAttempt: Check = {
  code: "header-of-first-attempt",
  severity: "warning",
  title: "a header that keeps the value of attempt 1",
  why: "Envoy evaluates the header changes of a route once, for attempt 1: %UPSTREAM_...% in them names the first cluster at every attempt",
  find(context) {
    return withPolicy(context).flatMap(({ configuration, virtualHost, route }) =>
      [configuration, virtualHost, route]
        .flatMap((level) => level.headers.requestAdd)
        .filter(({ value }) => /%UPSTREAM_(CLUSTER|METADATA|HOST)/.test(value))
        .map((header) => ({
          at: header,
          message: `request header ${quoted(header.key)} is made from the cluster of attempt 1, also for later attempts`,
          fix: "set it in the upstream filters of each cluster instead",
        })),
    );
  },
};
