// Compares what is read of a plain text with what the library reads.

import { isMap, isScalar, isSeq, LineCounter, type Pair, type YAMLSeq } from "yaml";
import { parseDocuments } from "../../cli/yaml/parse.js";
import { isPlain, readPlain } from "../../cli/yaml/plain/read.js";
import { dashOf, valueIndicatorEnd } from "../../cli/yaml/tokens.js";

/** "same", "library" for a text that is left to the library, or what is wrong. */
export function compareWithLibrary(text: string): string {
  const plain = readPlain(text);
  if ((plain !== undefined) !== isPlain(text)) return "is read otherwise than it is checked";
  if (plain === undefined) return "library";
  const documents = parseDocuments(text, new LineCounter());
  const error = documents.flatMap(({ errors }) => errors)[0];
  if (error !== undefined) return `the library says: ${error.message}`;
  if (documents.length !== 1) return `the library finds ${documents.length} documents`;
  const [read, expected] = [plain.root, documents[0]?.contents].map((node) => JSON.stringify(shapeOf(node)));
  return read === expected ? "same" : `read ${read}, expected ${expected}`;
}

/** All that the command line asks of a node. Where a block collection ends is not among it. */
function shapeOf(node: unknown): unknown {
  if (isScalar(node)) return [node.type, node.value, node.source, node.range?.slice(0, 2)];
  if (isSeq(node)) {
    const items = node.items.map((item, index) => [
      shapeOf(item),
      node.flow === true ? undefined : dashOf(node, index),
    ]);
    return { items, place: placeOf(node) };
  }
  if (!isMap(node)) return node;
  const pairs = node.items.map((pair: Pair) => [shapeOf(pair.key), valueIndicatorEnd(node, pair), shapeOf(pair.value)]);
  return { pairs, place: placeOf(node) };
}

function placeOf({ flow, range }: Pick<YAMLSeq, "flow" | "range">): unknown {
  return flow === true ? range?.slice(0, 2) : range?.[0];
}
