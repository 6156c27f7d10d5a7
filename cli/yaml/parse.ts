import { Composer, isScalar, Parser, type CST, type Document, type LineCounter } from "yaml";

/** As deep as Envoy's own YAML parser goes. */
export const MAX_DEPTH = 500;
export const TOO_DEEP = `expected at most ${MAX_DEPTH} levels of maps and lists, found more`;

/** Collections stand inside each other deeper than anything can be that Envoy reads. */
export class TooDeepError extends Error {
  constructor(readonly offset: number) {
    super(`more than ${MAX_DEPTH} levels at offset ${offset}`);
  }
}

/**
 * The documents of a text, with the tokens that they were made from. Two keys of one name are an error, but not where
 * one of them is left out.
 * @throws TooDeepError before the composer, which calls itself for each level.
 */
export function parseDocuments(text: string, lines: LineCounter): Document.Parsed[] {
  const composer = new Composer({ keepSourceTokens: true, prettyErrors: false, uniqueKeys: isSameKey });
  return [...composer.compose(new BoundedParser(lines.addNewLine).parse(text))];
}

/** Whether Envoy leaves a key and its value out of a map. */
export function isLeftOut(key: unknown): boolean {
  return typeof key === "object" && key !== null && "tag" in key && key.tag === "!ignore";
}

/** Whether a key stands for the pairs of other maps. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

class BoundedParser extends Parser {
  override *next(source: string): Generator<CST.Token, void> {
    yield* super.next(source);
    if (this.stack.length > MAX_DEPTH) throw new TooDeepError(this.offset - source.length);
  }
}

function isSameKey(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return !isLeftOut(one) && !isLeftOut(other) && valueOf(one) !== undefined && valueOf(one) === valueOf(other);
}

function valueOf(key: unknown): unknown {
  return typeof key === "object" && key !== null && "value" in key ? key.value : undefined;
}
