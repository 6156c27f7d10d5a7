import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const moduleFailsClosed: Check = {
  code: "module-fails-closed",
  severity: "warning",
  title: "requests fail where the module does",
  why: "With FAIL_CLOSED, which is also what no failure_policy means, a module that has failed once answers 503 to every request of that worker; with FAIL_OPEN the groups are still walked",
  find(context) {
    return context.managers.flatMap(({ chain }) =>
      (chain?.filters ?? [])
        .filter(({ name }) => /^attempt_router(_[0-9a-f]{16,32})?$/.test(name))
        .filter(({ config }) => messageOf(messageOf(config?.value)["config"])["failure_policy"] !== "FAIL_OPEN")
        .map((filter) => ({
          at: filter,
          message: `filter ${quoted(filter.name)} has no failure_policy: FAIL_OPEN`,
          fix: "write failure_policy: FAIL_OPEN, or lower without --failure-policy",
        })),
    );
  },
};
