import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const weightNeverWins: Check = {
  code: "weight-never-wins",
  severity: "warning",
  title: "a weight that is as good as none",
  why: "A cluster whose share is below one in 100,000 gets no requests worth counting: most often the weights were meant to be percentages of different sums",
  find(context) {
    return context.fallbacks.flatMap(({ groups, composite }) => {
      if (composite !== undefined) return [];
      return groups.flatMap((group) => {
        const total = group.reduce((sum, { weight }) => sum + weight, 0);
        return group
          .filter(({ weight }) => weight > 0 && weight / total < NEGLIGIBLE)
          .map(({ name, weight, at }) => ({
            at,
            message: `cluster ${quoted(name)} has weight ${weight} of ${total}`,
            fix: "raise its weight, or leave it out",
          }));
      });
    });
  },
};

const NEGLIGIBLE = 1e-5;
