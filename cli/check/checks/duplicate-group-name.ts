import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const duplicateGroupName: Check = {
  code: "duplicate-group-name",
  severity: "warning",
  title: "a group that an override can never select by name",
  why: "An override that only names a group takes the first one of that name: a second one is never selected by name",
  find(context) {
    return context.fallbacks.flatMap(({ attempts }) => {
      if (attempts.override === undefined) return [];
      const seen = new Set<string>();
      return attempts.groups.flatMap(({ name }) => {
        const known = name !== undefined && seen.has(name.value);
        if (name !== undefined) seen.add(name.value);
        if (!known) return [];
        return [
          {
            at: name,
            message: `a second group is called ${quoted(name.value)}`,
            fix: "give groups that overrides select names of their own",
          },
        ];
      });
    });
  },
};
