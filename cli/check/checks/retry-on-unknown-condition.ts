import type { Check } from "../check.js";
import { quoted } from "../context.js";
import { GRPC_CONDITIONS, HTTP_CONDITIONS, isCondition } from "../../explain/retry-rules.js";

export const retryOnUnknownCondition: Check = {
  code: "retry-on-unknown-condition",
  severity: "error",
  title: "a condition in retry_on that Envoy does not know",
  why: "Envoy passes over words in retry_on that it does not know, without an error: what they were meant for is not retried",
  find(context) {
    const policies = context.routes.flatMap(({ route, virtualHost }) => [
      route.action.kind === "route" ? route.action.route.retryPolicy : undefined,
      virtualHost.retryPolicy,
    ]);
    return policies.flatMap((policy) =>
      (policy?.retryOn?.value ?? [])
        .filter((word) => !isCondition(word))
        .map((word) => ({
          at: policy?.retryOn ?? context.program,
          message: `retry_on has ${quoted(word)}, which is no condition`,
          fix: `use one of ${[...HTTP_CONDITIONS, ...Object.keys(GRPC_CONDITIONS)].join(", ")}`,
        })),
    );
  },
};
