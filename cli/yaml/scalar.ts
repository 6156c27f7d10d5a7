import { isMap, isScalar, isSeq, Scalar, type Node, type Pair, type YAMLMap } from "yaml";

/** A JSON value as Envoy hands it to its protobuf parser. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const TRUE_WORDS = new Set(["y", "yes", "true", "on"]);
const FALSE_WORDS = new Set(["n", "no", "false", "off"]);
const INT32_MIN = -(2n ** 31n);
const INT32_MAX = 2n ** 31n - 1n;

/**
 * The value of a scalar as Envoy's own YAML loader reads it, which is not YAML 1.2: unquoted `yes` and `off` are
 * booleans, `010` is octal, integers outside int32 and all fractions stay strings.
 */
export function scalarValue(node: Scalar): Json {
  const text = plainText(node);
  if (text === undefined) return typeof node.value === "string" ? node.value : (node.source ?? "");
  if (text === "" || text === "~" || /^(null|Null|NULL)$/.test(text)) return null;
  const word = booleanWord(text);
  if (word !== undefined) return word;
  const integer = integerOf(text);
  if (integer === undefined) return text;
  return integer >= INT32_MIN && integer <= INT32_MAX ? Number(integer) : integer.toString();
}

/** True where a plain scalar of this text would not be read back as the same string. */
export function needsQuotes(text: string): boolean {
  if (!/^[A-Za-z_./@][A-Za-z0-9_./@:-]*$/.test(text) || /[:]$/.test(text) || text.startsWith("@")) return true;
  return booleanWord(text) !== undefined || /^(null|Null|NULL)$/.test(text) || /^\.(inf|nan)$/i.test(text);
}

/** What leads from a node of a file to the nodes that it stands for. */
export interface Reader {
  resolve(node: unknown): Node | undefined;
  pairsOf(map: YAMLMap): readonly Pair[];
}

/** The JSON value of a node, with aliases and merge keys written out. Keys are kept as written. */
export function jsonValue(node: unknown, reader: Reader): Json {
  const target = reader.resolve(node);
  if (isScalar(target)) return scalarValue(target);
  if (isSeq(target)) return target.items.map((item) => jsonValue(item, reader));
  if (!isMap(target)) return null;
  return Object.fromEntries(reader.pairsOf(target).map((pair) => [keyText(pair), jsonValue(pair.value, reader)]));
}

/** The key of a pair as text; empty where it is no scalar. */
export function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}

function plainText(node: Scalar): string | undefined {
  if (node.type !== undefined && node.type !== Scalar.PLAIN) return undefined;
  return node.source ?? "";
}

/** yaml-cpp takes a boolean word in lower, upper or capitalised form only. */
function booleanWord(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  const capitalised = lower.charAt(0).toUpperCase() + lower.slice(1);
  if (text !== lower && text !== lower.toUpperCase() && text !== capitalised) return undefined;
  if (TRUE_WORDS.has(lower)) return true;
  return FALSE_WORDS.has(lower) ? false : undefined;
}

function integerOf(text: string): bigint | undefined {
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$/.exec(text);
  if (match?.[2] === undefined) return undefined;
  const digits = match[2];
  const value = /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
  return match[1] === "-" ? -value : value;
}
