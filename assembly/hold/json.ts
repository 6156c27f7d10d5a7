// JSON in place: one value is looked up in bytes that come from a provider. Nothing is allocated, nothing is trusted:
// what is no JSON, or nested too deep, is nothing.

import { Bytes, View } from "../bytes";

/** Deepest nesting that is read: recursion must end before the stack does. */
const MAX_DEPTH: i32 = 64;

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_OBJECT: u8 = 0x7d;
const OPEN_LIST: u8 = 0x5b;
const CLOSE_LIST: u8 = 0x5d;
const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const MINUS: u8 = 0x2d;
const PLUS: u8 = 0x2b;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const SMALL_U: u8 = 0x75;
/** Most digits of a number that is read: 18 fit into 64 bits. */
const MAX_DIGITS: usize = 18;

// What `read` found last.
const name = new View();
const item = new View();

/** Whether `c` is white space between tokens. */
export function isSpace(c: u8): bool {
  return c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09;
}

/** Whether the range is one JSON value, with white space around it at most. */
export function isJson(text: View): bool {
  const end = text.ptr + <usize>text.length;
  const after = skipValue(text.ptr, end, 0);
  return after != 0 && skipSpace(after, end) == end;
}

/**
 * Looks up the value at `path` in legal JSON: names of fields, and in lists positions from "0" on. Of a name that an object has twice
 * the last one counts. `out` is the value as it stands there.
 */
export function findValue(text: View, path: StaticArray<Bytes>, out: View): bool {
  const end = text.ptr + <usize>text.length;
  const first = skipSpace(text.ptr, end);
  out.set(first, <i32>(skipValue(first, end, 0) - first));
  for (let i = 0; i < path.length; i++) {
    if (!findIn(out, unchecked(path[i]), out)) return false;
  }
  return true;
}

/** Whether a value is a string with this text. */
export function isText(value: View, text: Bytes): bool {
  if (value.length < 2 || value.at(0) != QUOTE) return false;
  return sameText(value.ptr + 1, value.ptr + <usize>value.length - 1, text);
}

/** Whether a value is null, or a string, list or object without anything in it. */
export function isEmpty(value: View): bool {
  const first = value.at(0);
  if (first == 0x6e) return true;
  if (first == QUOTE) return value.length == 2;
  if (first != OPEN_LIST && first != OPEN_OBJECT) return false;
  const end = value.ptr + <usize>value.length;
  return skipSpace(value.ptr + 1, end) == end - 1;
}

/** Whether all fields of an object are empty (see `isEmpty`), but for those with these names. False for what is no object. */
export function hasOnly(value: View, names: StaticArray<Bytes>): bool {
  if (value.at(0) != OPEN_OBJECT) return false;
  const end = value.ptr + <usize>value.length;
  for (let at = next(value.ptr, end, true); at != 0; at = next(at, end, true)) {
    if (!isEmpty(item) && !isNamed(names)) return false;
  }
  return true;
}

/** A whole number of up to 18 digits, as a number or as a string of digits; -1 for everything else, and below 0. */
export function wholeNumber(value: View): i64 {
  const quoted = <usize>(value.at(0) == QUOTE);
  const start = value.ptr + quoted;
  const end = value.ptr + <usize>value.length - quoted;
  if (start >= end || end - start > MAX_DIGITS) return -1;
  let number: i64 = 0;
  for (let at = start; at < end; at++) {
    if (!isDigit(load<u8>(at))) return -1;
    number = number * 10 + <i64>(load<u8>(at) - ZERO);
  }
  return number;
}

function isNamed(names: StaticArray<Bytes>): bool {
  for (let i = 0; i < names.length; i++) {
    if (sameText(name.ptr, name.ptr + <usize>name.length, unchecked(names[i]))) return true;
  }
  return false;
}

function findIn(holder: View, key: Bytes, out: View): bool {
  const isObject = holder.at(0) == OPEN_OBJECT;
  if (!isObject && holder.at(0) != OPEN_LIST) return false;
  const end = holder.ptr + <usize>holder.length;
  let position = isObject ? -1 : positionOf(key);
  let found = false;
  for (let at = next(holder.ptr, end, isObject); at != 0; at = next(at, end, isObject)) {
    const fits = isObject ? sameText(name.ptr, name.ptr + <usize>name.length, key) : position-- == 0;
    if (!fits) continue;
    out.set(item.ptr, item.length);
    found = true;
  }
  return found;
}

// Reads the next element of a legal list or object into `name` and `item`; `at` is its first byte, or what a call gave
// before. 0: there is none.
function next(at: usize, end: usize, isObject: bool): usize {
  at = skipSpace(at + 1, end);
  if (load<u8>(at) == CLOSE_OBJECT || load<u8>(at) == CLOSE_LIST) return 0;
  if (isObject) {
    const after = skipString(at, end);
    name.set(at + 1, <i32>(after - at) - 2);
    at = skipSpace(skipSpace(after, end) + 1, end);
  }
  const after = skipValue(at, end, 0);
  item.set(at, <i32>(after - at));
  at = skipSpace(after, end);
  // At the comma, or before the bracket that closes.
  return load<u8>(at) == COMMA ? at : at - 1;
}

// A position in a list; -1 where it is none.
function positionOf(key: Bytes): i32 {
  let position = 0;
  for (let i = 0; i < key.length; i++) {
    if (!isDigit(key[i]) || i > 5) return -1;
    position = position * 10 + <i32>(key[i] - ZERO);
  }
  return key.length > 0 ? position : -1;
}

/** The first byte from `at` on that is no white space, or `end`. */
export function skipSpace(at: usize, end: usize): usize {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at;
}

// The end of the value that begins at `at`, after white space; 0 where there is none.
function skipValue(at: usize, end: usize, depth: i32): usize {
  at = skipSpace(at, end);
  if (at >= end || depth > MAX_DEPTH) return 0;
  const first = load<u8>(at);
  if (first == QUOTE) return skipString(at, end);
  if (first == OPEN_OBJECT || first == OPEN_LIST) return skipElements(at, end, depth);
  if (first == 0x74) return skipWord(at, end, 0x65757274, 4);
  if (first == 0x6e) return skipWord(at, end, 0x6c6c756e, 4);
  // "false" is "f" and "alse".
  if (first == 0x66) return skipWord(at + 1, end, 0x65736c61, 4);
  return skipNumber(at, end);
}

function skipElements(at: usize, end: usize, depth: i32): usize {
  const isObject = load<u8>(at) == OPEN_OBJECT;
  const close = isObject ? CLOSE_OBJECT : CLOSE_LIST;
  at = skipSpace(at + 1, end);
  if (at < end && load<u8>(at) == close) return at + 1;
  while (at < end) {
    if (isObject) {
      at = skipName(at, end);
      if (at == 0) return 0;
    }
    at = skipValue(at, end, depth + 1);
    if (at == 0) return 0;
    at = skipSpace(at, end);
    if (at >= end) return 0;
    if (load<u8>(at) == close) return at + 1;
    if (load<u8>(at) != COMMA) return 0;
    at = skipSpace(at + 1, end);
  }
  return 0;
}

// A name and its colon.
function skipName(at: usize, end: usize): usize {
  if (load<u8>(at) != QUOTE) return 0;
  at = skipString(at, end);
  if (at == 0) return 0;
  at = skipSpace(at, end);
  return at < end && load<u8>(at) == COLON ? at + 1 : 0;
}

function skipString(at: usize, end: usize): usize {
  for (at++; at < end; at++) {
    const c = load<u8>(at);
    if (c == QUOTE) return at + 1;
    if (c < 0x20) return 0;
    if (c != BACKSLASH) continue;
    if (++at >= end) return 0;
    const escaped = load<u8>(at);
    if (escaped == SMALL_U) {
      if (at + 4 >= end || hexAt(at + 1) < 0) return 0;
      at += 4;
    } else if (plainEscape(escaped) == 0) return 0;
  }
  return 0;
}

function skipWord(at: usize, end: usize, word: u32, length: usize): usize {
  return at + length <= end && load<u32>(at) == word ? at + length : 0;
}

function skipNumber(at: usize, end: usize): usize {
  if (at < end && load<u8>(at) == MINUS) at++;
  const digits = skipDigits(at, end);
  if (digits == 0 || (load<u8>(at) == ZERO && digits > at + 1)) return 0;
  at = digits;
  if (at < end && load<u8>(at) == POINT) {
    at = skipDigits(at + 1, end);
    if (at == 0) return 0;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    at++;
    if (at < end && (load<u8>(at) == PLUS || load<u8>(at) == MINUS)) at++;
    return skipDigits(at, end);
  }
  return at;
}

// At least one digit.
function skipDigits(at: usize, end: usize): usize {
  const start = at;
  while (at < end && isDigit(load<u8>(at))) at++;
  return at > start ? at : 0;
}

function isDigit(c: u8): bool {
  return c >= ZERO && c <= 0x39;
}

// Whether the inside of a legal string spells these UTF-8 bytes.
function sameText(at: usize, end: usize, text: Bytes): bool {
  let index = 0;
  while (at < end) {
    let c = load<u8>(at++);
    if (c == BACKSLASH) {
      c = load<u8>(at++);
      if (c == SMALL_U) {
        index = sameEscape(at, end, text, index);
        if (index < 0) return false;
        at += isPair(at, end) ? 10 : 4;
        continue;
      }
      c = plainEscape(c);
    }
    if (index >= text.length || text[index++] != c) return false;
  }
  return index == text.length;
}

// Where in `text` it goes on after the character whose four digits begin at `at`; -1 where `text` has another one.
function sameEscape(at: usize, end: usize, text: Bytes, index: i32): i32 {
  let char = hexAt(at);
  if (isPair(at, end)) char = 0x10000 + ((char & 0x3ff) << 10) + (hexAt(at + 6) & 0x3ff);
  const more = char < 0x80 ? 0 : char < 0x800 ? 1 : char < 0x10000 ? 2 : 3;
  if (index + more >= text.length) return -1;
  const lead = more == 0 ? 0 : (0xff00 >> (more + 1)) & 0xff;
  if (<i32>text[index++] != (lead | (char >> (6 * more)))) return -1;
  for (let left = more - 1; left >= 0; left--) {
    if (<i32>text[index++] != (0x80 | ((char >> (6 * left)) & 0x3f))) return -1;
  }
  return index;
}

// Whether two escapes, the first of which begins at `at`, stand for one character.
function isPair(at: usize, end: usize): bool {
  if (at + 10 > end || (hexAt(at) & 0xfc00) != 0xd800) return false;
  return load<u8>(at + 4) == BACKSLASH && load<u8>(at + 5) == SMALL_U && (hexAt(at + 6) & 0xfc00) == 0xdc00;
}

// Four hexadecimal digits; -1 where they are none.
function hexAt(at: usize): i32 {
  let number = 0;
  for (let i: usize = 0; i < 4; i++) {
    const c = <i32>load<u8>(at + i);
    const letter = (c | 0x20) - 0x61 + 10;
    const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : letter >= 10 && letter < 16 ? letter : -1;
    if (digit < 0) return -1;
    number = (number << 4) | digit;
  }
  return number;
}

// What a letter after a backslash stands for; 0 for nothing.
function plainEscape(c: u8): u8 {
  if (c == QUOTE || c == BACKSLASH || c == 0x2f) return c;
  if (c == 0x6e) return 0x0a;
  if (c == 0x74) return 0x09;
  if (c == 0x72) return 0x0d;
  if (c == 0x62) return 0x08;
  return c == 0x66 ? 0x0c : 0;
}
