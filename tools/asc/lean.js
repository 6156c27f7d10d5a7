// A compiler pass for the release module: leaves out what takes room there and is of no use.
//
// `const NAME = encode("text")` at the top level of a file becomes the bytes themselves, as static data. Without the pass the
// module would hold each text as UTF-16, and encode it when it starts.
//
// Generated messages lose their import of the serializers' library. No message is serialized, so nothing else of it is
// compiled, but its start code would be, and all that that uses.

import { Transform } from "assemblyscript/transform";
import { Node, NodeKind } from "assemblyscript";

const SERIALIZERS = "as-proto/assembly";
/** Kind of a literal that is a string. */
const STRING = 2;

export default class Lean extends Transform {
  afterParse(parser) {
    for (const source of parser.sources.filter(({ isLibrary }) => !isLibrary)) {
      source.statements = source.statements.filter((statement) => !importsSerializers(statement));
      const variables = source.statements.filter(({ kind }) => kind === NodeKind.Variable);
      for (const declaration of variables.flatMap(({ declarations }) => declarations)) encodeInitializer(declaration);
    }
  }
}

function importsSerializers(statement) {
  return statement.kind === NodeKind.Import && statement.path.value === SERIALIZERS;
}

function encodeInitializer(declaration) {
  const text = encodedText(declaration.initializer);
  if (text === null) return;
  const { range } = declaration;
  const byte = Node.createNamedType(Node.createSimpleTypeName("u8", range), null, false, range);
  const elements = Array.from(new TextEncoder().encode(text), (value) =>
    Node.createIntegerLiteralExpression(globalThis.i64_new(value), range),
  );
  declaration.type = Node.createNamedType(Node.createSimpleTypeName("StaticArray", range), [byte], false, range);
  declaration.initializer = Node.createArrayLiteralExpression(elements, range);
}

/** The text of `encode("text")`; null for any other expression. */
function encodedText(expression) {
  if (expression?.kind !== NodeKind.Call || expression.expression.text !== "encode") return null;
  const argument = expression.args[0];
  return argument.kind === NodeKind.Literal && argument.literalKind === STRING ? argument.value : null;
}
