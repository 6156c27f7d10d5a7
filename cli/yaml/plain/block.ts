import { readFlow, startsFlow } from "./flow.js";
import { Keys, NEWLINE, SPACE, type Scanner } from "./scanner.js";

const DASH = 45;
const LITERAL = 124;
const ROOT = -1;

/** Reads a whole text. */
export function readText(scanner: Scanner): void {
  const indent = scanner.nextIndent();
  if (indent === -1) scanner.fail();
  if (startsFlow(scanner.code)) readInline(scanner, ROOT);
  else readCollection(scanner, indent);
  if (scanner.nextIndent() !== -1) scanner.fail();
}

/** Reads a map or a list from its first key or dash on, in column `indent`; ends at the start of a line. */
function readCollection(scanner: Scanner, indent: number): void {
  if (startsItem(scanner)) readSeq(scanner, indent);
  else readMap(scanner, indent);
}

function readMap(scanner: Scanner, indent: number): void {
  scanner.descend();
  scanner.events.map(scanner.at, false);
  const keys = new Keys();
  do {
    const end = scanner.keyEnd;
    if (end === -1) scanner.fail();
    keys.add(scanner.key(end, false), scanner);
    readValue(scanner, indent, true);
  } while (continues(scanner, indent));
  scanner.ascend(scanner.at);
}

function readSeq(scanner: Scanner, indent: number): void {
  scanner.descend();
  scanner.events.seq(scanner.at, false);
  do {
    const dash = scanner.at;
    scanner.events.dash(dash);
    scanner.at += 1;
    readItem(scanner, indent, dash);
  } while (continuesSeq(scanner, indent));
  scanner.ascend(scanner.at);
}

function readItem(scanner: Scanner, indent: number, dash: number): void {
  scanner.skipSpaces();
  const end = scanner.keyEnd;
  const isKey = end !== -1 && isColon(scanner, end);
  // A list in a list on one line, as in `- - a`, is rare.
  if (startsItem(scanner)) scanner.fail();
  if (isKey) readMap(scanner, indent + scanner.at - dash);
  else {
    scanner.at = dash + 1;
    readValue(scanner, indent, false);
  }
}

/** Reads what follows a key or a dash, with which column `indent` begins; a list below a key may begin there, too. */
function readValue(scanner: Scanner, indent: number, isKeys: boolean): void {
  const after = scanner.at;
  if (!scanner.endsLine) {
    scanner.skipSpaces();
    readInline(scanner, indent);
    return;
  }
  scanner.endLine();
  const line = scanner.at;
  const next = scanner.nextIndent();
  if (next > indent || (isKeys && next === indent && startsItem(scanner))) readBelow(scanner, indent, next);
  else {
    // The library puts an empty value behind spaces, too.
    if (line > after && scanner.text.charCodeAt(after) !== NEWLINE) scanner.fail();
    scanner.events.scalar("PLAIN", after, after);
    scanner.at = line;
  }
}

function readBelow(scanner: Scanner, indent: number, column: number): void {
  const end = scanner.keyEnd;
  if (startsItem(scanner) || (end !== -1 && isColon(scanner, end))) readCollection(scanner, column);
  else readInline(scanner, indent);
}

function readInline(scanner: Scanner, indent: number): void {
  if (scanner.code === LITERAL) {
    readLiteral(scanner, indent);
    return;
  }
  if (startsFlow(scanner.code)) readFlow(scanner, indent);
  else scanner.scalar(false);
  scanner.endLine();
}

/** Reads `|` and `|-` with lines that are empty or have something in them. */
function readLiteral(scanner: Scanner, indent: number): void {
  const { text } = scanner;
  const start = scanner.at;
  const header = text.startsWith("|-\n", start) ? 3 : text.startsWith("|\n", start) ? 2 : scanner.fail();
  let end = start + header;
  let column = -1;
  for (let line = end; line < text.length; ) {
    const stop = text.indexOf("\n", line);
    if (stop === -1) scanner.fail();
    let at = line;
    while (text.charCodeAt(at) === SPACE) at += 1;
    if (at === stop) {
      if (at > line) scanner.fail();
    } else {
      if (column === -1) column = at - line;
      if (column <= indent) scanner.fail();
      if (at - line < column) {
        if (at - line > indent) scanner.fail();
        break;
      }
      end = stop + 1;
    }
    line = stop + 1;
  }
  if (column === -1) scanner.fail();
  scanner.events.scalar("BLOCK_LITERAL", start, end);
  scanner.at = end;
}

/** Whether the collection in column `indent` goes on; goes to where. Stays at the start of a line where it does not. */
function continues(scanner: Scanner, indent: number): boolean {
  const line = scanner.at;
  const next = scanner.nextIndent();
  if (next > indent) scanner.fail();
  if (next === indent) return true;
  scanner.at = line;
  return false;
}

/** What stands in the column of a list and is no item is a key of the map around it. */
function continuesSeq(scanner: Scanner, indent: number): boolean {
  const line = scanner.at;
  if (!continues(scanner, indent)) return false;
  if (startsItem(scanner)) return true;
  scanner.at = line;
  return false;
}

function startsItem(scanner: Scanner): boolean {
  if (scanner.code !== DASH) return false;
  const next = scanner.text.charCodeAt(scanner.at + 1);
  return next === SPACE || next === NEWLINE || Number.isNaN(next);
}

function isColon(scanner: Scanner, end: number): boolean {
  const at = scanner.at;
  scanner.at = end;
  const is = scanner.atColon;
  scanner.at = at;
  return is;
}
