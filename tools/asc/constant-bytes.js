// A compiler pass for the module: `const NAME = encode("text")` at the top level of a file becomes the bytes themselves,
// as static data. Without it the module would hold each text as UTF-16, and encode it when it starts.

import { Transform } from "assemblyscript/transform";
import { Node, NodeKind } from "assemblyscript";

export default class ConstantBytes extends Transform {
  afterParse(parser) {
    const statements = parser.sources.filter(({ isLibrary }) => !isLibrary).flatMap((source) => source.statements);
    for (const statement of statements) {
      if (statement.kind === NodeKind.Variable) statement.declarations.forEach(replaceInitializer);
    }
  }
}

function replaceInitializer(declaration) {
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
  // Kind 2 of a literal is a string.
  return argument.kind === NodeKind.Literal && argument.literalKind === 2 ? argument.value : null;
}
