import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const filterAfterModule: Check = {
  code: "filter-after-module",
  severity: "error",
  title: "a filter after the module can select another route",
  why: "The module decides on the route that it sees: a filter after it that changes the request or clears the route cache leads to a route that was not decided on",
  find(context) {
    return context.managers.flatMap(({ chain }) => {
      const filters = chain?.filters ?? [];
      const last = filters.findLastIndex(({ name }) => /^attempt_router(_[0-9a-f]{16,32})?$/.test(name));
      if (last < 0) return [];
      return filters
        .slice(last + 1)
        .filter(({ name, type }) => !name.startsWith("attempt_router") && type?.endsWith(".Router") !== true)
        .map((filter) => ({
          at: filter,
          message: `filter ${quoted(filter.name)} stands after the module`,
          fix: "lower the native file again, which puts the module right before the router",
        }));
    });
  },
};
