import { isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";
import { join } from "./cursor.js";
import { keyText } from "./scalar.js";
import type { Tree } from "./tree.js";

/** A step to a value: the pair that it is the value of, or its index in a list. */
type Step = Pair | number;

/**
 * Calls `visit` with every pair of a tree, the outer ones first; what it returns false for is not looked into. Aliases are
 * not followed. `path` is made on request.
 */
export function walkPairs(root: unknown, visit: (pair: Pair, map: YAMLMap, path: () => string) => boolean): void {
  const steps: Step[] = [];
  const path = (): string => pathOf(steps);
  const walk = (node: unknown): void => {
    if (isSeq(node)) {
      for (let index = 0; index < node.items.length; index += 1) step(index, node.items[index]);
    } else if (isMap(node)) {
      const inner = node.items.filter((pair) => visit(pair, node, path));
      for (const pair of inner) if (!isScalar(pair.value)) step(pair, pair.value);
    }
  };
  const step = (to: Step, node: unknown): void => {
    steps.push(to);
    walk(node);
    steps.pop();
  };
  walk(root);
}

/**
 * Whether a scalar of a tree fits that does not stand under the key `except`. Aliases are followed: their anchors may stand
 * where nothing is looked at, as in a key that Envoy ignores.
 */
export function someScalar(tree: Tree, except: string, fits: (value: unknown) => boolean): boolean {
  const followed = new Set<unknown>();
  const some = (node: unknown): boolean => {
    if (isScalar(node)) return fits(node.value);
    if (isSeq(node)) return node.items.some(some);
    if (isMap(node)) return node.items.some(somePair);
    if (!isAlias(node)) return false;
    const target = tree.resolve(node);
    if (followed.has(target)) return false;
    followed.add(target);
    return some(target);
  };
  const somePair = ({ key, value }: Pair): boolean => {
    if (isScalar(key) && key.value === except) return false;
    return some(key) || some(value);
  };
  return some(tree.root);
}

function pathOf(steps: readonly Step[]): string {
  return steps.reduce<string>(
    (path, step) => (typeof step === "number" ? `${path}[${step}]` : join(path, keyText(step))),
    "",
  );
}
