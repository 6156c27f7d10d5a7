import { Keys, type Scanner } from "./scanner.js";

const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_MAP = 123;
const CLOSE_MAP = 125;
const SPACE = /[ \n]*/y;

export function startsFlow(code: number): boolean {
  return code === OPEN_LIST || code === OPEN_MAP;
}

/** Reads `{}` or `[]`, which may go over lines that stand to the right of column `indent`. */
export function readFlow(scanner: Scanner, indent: number): void {
  const isMap = scanner.code === OPEN_MAP;
  const close = isMap ? CLOSE_MAP : CLOSE_LIST;
  scanner.descend();
  if (isMap) scanner.events.map(scanner.at, true);
  else scanner.events.seq(scanner.at, true);
  scanner.at += 1;
  skipSpace(scanner, indent);
  if (scanner.code !== close) {
    const keys = new Keys();
    for (;;) {
      if (isMap) readKey(scanner, keys, indent);
      readValue(scanner, indent);
      skipSpace(scanner, indent);
      if (scanner.code === close) break;
      if (scanner.code !== COMMA) scanner.fail();
      scanner.at += 1;
      skipSpace(scanner, indent);
    }
  }
  scanner.at += 1;
  scanner.ascend(scanner.at);
}

function readKey(scanner: Scanner, keys: Keys, indent: number): void {
  const end = scanner.keyEnd;
  if (end === -1) scanner.fail();
  keys.add(scanner.key(end, true), scanner);
  skipSpace(scanner, indent);
}

function readValue(scanner: Scanner, indent: number): void {
  if (startsFlow(scanner.code)) readFlow(scanner, indent);
  else scanner.scalar(true);
}

/** Skips spaces and line ends; what follows these has to stand to the right of column `indent`. */
function skipSpace(scanner: Scanner, indent: number): void {
  const from = scanner.at;
  SPACE.lastIndex = from;
  SPACE.test(scanner.text);
  scanner.at = SPACE.lastIndex;
  const line = scanner.text.lastIndexOf("\n", scanner.at - 1) + 1;
  if (line > from && scanner.at - line <= indent) scanner.fail();
}
