import type { Check } from "../check.js";

export const clientSentAttemptCount: Check = {
  code: "client-sent-attempt-count",
  severity: "warning",
  title: "a client's x-envoy-attempt-count decides",
  why: "Routes are matched and header_name is read before the router counts attempts: x-envoy-attempt-count is then what the client sent, and retries do not match routes again",
  find(context) {
    return context.routes.flatMap(({ route }) => {
      const random = route.attempts?.random;
      const matched = route.match.headers.filter(({ name }) => isCount(name));
      const picked = random?.kind === "header" && isCount(random.name.value) ? [random.name] : [];
      return [...matched, ...picked].map((at) => ({
        at,
        message: "the route goes by x-envoy-attempt-count, which clients may send",
        fix: "leave the header out: priority groups follow the attempts",
      }));
    });
  },
};

function isCount(header: string): boolean {
  return header.toLowerCase() === "x-envoy-attempt-count";
}
