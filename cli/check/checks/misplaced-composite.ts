import type { Check } from "../check.js";

export const misplacedComposite: Check = {
  code: "misplaced-composite",
  severity: "error",
  title: "a composite cluster among weighted clusters with settings of their own",
  why: "Such weighted clusters become a priority group, whose entries have a name and a weight and nothing else, so lower refuses them",
  find(context) {
    return context.routes.flatMap(({ route: { attempts } }) => {
      const others = attempts?.source.kind === "weighted" ? attempts.source.others : [];
      return others.map((at) => ({
        at,
        message: "weighted clusters with a composite cluster say more than names, weights and the random value",
        fix: "write it on the route, or give the composite cluster a route of its own",
      }));
    });
  },
};
