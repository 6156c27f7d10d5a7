// Small changes of meaning in AssemblyScript sources, one at a time: each should make a test fail.

import ts from "typescript";

/** One change of a file: `length` characters at `start` become `text`. */
export interface Change {
  file: string;
  /** From 1. */
  line: number;
  start: number;
  length: number;
  text: string;
  /** What was there, in one line. */
  was: string;
}

const OPERATORS = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsToken, "!="],
  [ts.SyntaxKind.ExclamationEqualsToken, "=="],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
  [ts.SyntaxKind.MinusEqualsToken, "+="],
]);

/** Every change of a file, in the order of the text. What only names, types or messages say is left as it is. */
export function changesOf(file: string, text: string): Change[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const changes: Change[] = [];
  const add = (node: ts.Node, replacement: string) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const was = node.getText(source).replace(/\s+/g, " ");
    changes.push({ file, line, start, length: node.getEnd() - start, text: replacement, was });
  };
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return;
    changeOne(node, source, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return changes.sort((a, b) => a.start - b.start);
}

function isLeftAlone(node: ts.Node): boolean {
  return ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isEnumDeclaration(node) || ts.isDecorator(node);
}

function changeOne(node: ts.Node, source: ts.SourceFile, add: (node: ts.Node, text: string) => void): void {
  if (ts.isBinaryExpression(node)) {
    const other = OPERATORS.get(node.operatorToken.kind);
    if (other !== undefined && !joinsText(node)) add(node.operatorToken, other);
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
  else if (ts.isNumericLiteral(node)) add(node, `(${node.getText(source)} + 1)`);
  else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    add(node, node.operand.getText(source));
  else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) add(node, ";");
  else if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText(source)})`);
}

function joinsText(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return true;
  return ts.isBinaryExpression(node) && (joinsText(node.left) || joinsText(node.right));
}

/** The text with one change made. */
export function changed(text: string, { start, length, text: replacement }: Change): string {
  return text.slice(0, start) + replacement + text.slice(start + length);
}
