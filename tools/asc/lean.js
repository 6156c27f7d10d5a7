// A compiler pass for the release module: leaves out what takes room there and is of no use.
//
// `const NAME = encode("text")` at the top level of a file becomes the bytes themselves, as static data. Without the pass the
// module would hold each text as UTF-16, and encode it when it starts.
//
// Every other string (names of settings, messages) becomes a call `__literal(n)`, which makes the string when it is first
// needed, from one list of UTF-8 texts. A string in static data takes two bytes for each letter, and 32 more.
//
// Generated messages lose their import of the serializers' library. No message is serialized, so nothing else of it is
// compiled, but its start code would be, and all that that uses.

import { Transform } from "assemblyscript/transform";
import { Node, NodeKind } from "assemblyscript";

const SERIALIZERS = "as-proto/assembly";
/** Kind of a literal that is a string. */
const STRING = 2;
/** Where `__literal` stands, and the what of it the pass needs. */
const LITERALS = "assembly/abi/literals";
const LITERAL = "__literal";
const TEXTS = "TEXTS";
const CACHE = "CACHE";
/** Ends a text: no UTF-8 has this byte. */
const END = 0xff;
/** Properties of a node that lead elsewhere, or to strings that are no values. */
const NOT_VISITED = new Set(["range", "parent", "source", "decorators", "path", "internalPath"]);

export default class Lean extends Transform {
  afterParse(parser) {
    const sources = parser.sources.filter(({ isLibrary }) => !isLibrary);
    for (const source of sources) {
      source.statements = source.statements.filter((statement) => !importsSerializers(statement));
      for (const declaration of topLevel(source)) encodeInitializer(declaration);
    }
    const literals = sources.find(({ internalPath }) => internalPath === LITERALS);
    if (literals === undefined) return;
    const texts = new Map();
    for (const source of sources) if (source !== literals) shareStrings(source, texts);
    fillIn(literals, [...texts.keys()]);
  }
}

function topLevel(source) {
  return source.statements.filter(({ kind }) => kind === NodeKind.Variable).flatMap((node) => node.declarations);
}

function importsSerializers(statement) {
  return statement.kind === NodeKind.Import && statement.path.value === SERIALIZERS;
}

function encodeInitializer(declaration) {
  const text = encodedText(declaration.initializer);
  if (text !== null) setBytes(declaration, new TextEncoder().encode(text));
}

function setBytes(declaration, bytes) {
  const { range } = declaration;
  const byte = Node.createNamedType(Node.createSimpleTypeName("u8", range), null, false, range);
  const elements = Array.from(bytes, (value) => integer(value, range));
  declaration.type = Node.createNamedType(Node.createSimpleTypeName("StaticArray", range), [byte], false, range);
  declaration.initializer = Node.createArrayLiteralExpression(elements, range);
}

function integer(value, range) {
  return Node.createIntegerLiteralExpression(globalThis.i64_new(value), range);
}

/** The text of `encode("text")`; null for any other expression. */
function encodedText(expression) {
  if (expression?.kind !== NodeKind.Call || expression.expression.text !== "encode") return null;
  const argument = expression.args[0];
  return isString(argument) ? argument.value : null;
}

function isString(node) {
  return node?.kind === NodeKind.Literal && node.literalKind === STRING;
}

// Puts a call in the place of every string below a node. `texts` are those found, with their numbers.
function shareStrings(node, texts) {
  for (const [name, value] of Object.entries(node)) {
    if (NOT_VISITED.has(name) || typeof value !== "object" || value === null) continue;
    // The empty string is tested for on the request path.
    if (isString(value) && value.value !== "") node[name] = call(value, texts);
    else if (Array.isArray(value) || value instanceof Node) shareStrings(value, texts);
  }
}

function call({ value, range }, texts) {
  if (!texts.has(value)) texts.set(value, texts.size);
  const name = Node.createIdentifierExpression(LITERAL, range);
  return Node.createCallExpression(name, null, [integer(texts.get(value), range)], range);
}

function fillIn(source, texts) {
  const find = (wanted) => topLevel(source).find(({ name }) => name.text === wanted);
  const encoder = new TextEncoder();
  setBytes(
    find(TEXTS),
    texts.flatMap((text) => [...encoder.encode(text), END]),
  );
  const cache = find(CACHE);
  const made = source.statements.find(
    ({ kind, name }) => kind === NodeKind.FunctionDeclaration && name.text === LITERAL,
  );
  made.decorators = [Node.createDecorator(Node.createIdentifierExpression("global", made.range), null, made.range)];
  cache.initializer.args[0] = integer(4 * texts.length, cache.range);
}
