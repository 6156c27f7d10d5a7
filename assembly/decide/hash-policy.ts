// A route's hash policies as Envoy evaluates them for `use_hash_policy`, down to the digit: the same request gives the
// same cluster on both. The functions work on bytes that the caller read from the request.

import { Bytes, View } from "../bytes";
import { ViewList } from "../view-list";
import { xxhash64 } from "./xxhash64";

/** What a hash policy hashes. */
export enum HashSource {
  HEADER,
  COOKIE,
  SOURCE_IP,
  QUERY_PARAMETER,
  /** `connection_properties` without `source_ip`: legal, and never has a value. */
  NOTHING,
}

/** One hash policy of a route. `name` is the header (lower case), cookie or query parameter; empty for SOURCE_IP. */
@final
export class HashPolicy {
  constructor(
    readonly source: HashSource,
    readonly name: Bytes,
    /** Stop after this policy as soon as some policy gave a hash; never set for NOTHING. */
    readonly terminal: bool,
  ) {}
}

/** The combined hash of several policies; a policy without a value adds nothing. */
@final
export class CombinedHash {
  value: u64 = 0;
  exists: bool = false;

  reset(): void {
    this.value = 0;
    this.exists = false;
  }

  add(hash: u64): void {
    this.value = this.exists ? rotl<u64>(this.value, 1) ^ hash : hash;
    this.exists = true;
  }
}

/** Hash of a header: its lines in byte order, each seeded with the hash of those before. Sorts `lines`. */
export function hashLines(lines: ViewList): u64 {
  lines.sort();
  let hash: u64 = 0;
  for (let i = 0; i < lines.length; i++) hash = xxhash64(lines.at(i).ptr, lines.at(i).length, hash);
  return hash;
}

/** Finds the first cookie `name` in one `cookie` header line; surrounding double quotes are not part of the value. */
export function findCookie(line: View, name: Bytes, out: View): bool {
  let start = 0;
  while (start < line.length) {
    const end = indexOf(line, SEMICOLON, start, line.length);
    const equals = indexOf(line, EQUALS, start, end);
    let nameStart = start;
    while (nameStart < equals && line.at(nameStart) == SPACE) nameStart++;
    if (equals < end && rangeEquals(line, nameStart, equals, name)) {
      setUnquoted(line, equals + 1, end, out);
      return true;
    }
    start = end + 1;
  }
  return false;
}

/** Finds the first query parameter `name` of a path, undecoded. A parameter without `=` has an empty value. */
export function findQueryParameter(path: View, name: Bytes, out: View): bool {
  let start = indexOf(path, QUESTION_MARK, 0, path.length) + 1;
  while (start < path.length) {
    const end = indexOf(path, AMPERSAND, start, path.length);
    const equals = indexOf(path, EQUALS, start, end);
    if (rangeEquals(path, start, equals, name)) {
      const valueStart = min(equals + 1, end);
      out.set(path.ptr + <usize>valueStart, end - valueStart);
      return true;
    }
    start = end + 1;
  }
  return false;
}

/** The IP of an `ip:port` or `[ip]:port` address; false where it is a pipe or an internal address. */
export function findIp(address: View, out: View): bool {
  let colon = address.length - 1;
  while (colon >= 0 && address.at(colon) != COLON) colon--;
  if (colon <= 0) return false;
  if (address.at(0) == OPEN_BRACKET) {
    if (address.at(colon - 1) != CLOSE_BRACKET) return false;
    out.set(address.ptr + 1, colon - 2);
    return true;
  }
  for (let i = 0; i < colon; i++) {
    const char = address.at(i);
    if (char != DOT && (char < ZERO || char > NINE)) return false;
  }
  out.set(address.ptr, colon);
  return true;
}

const SPACE: u8 = 0x20;
const QUOTE: u8 = 0x22;
const AMPERSAND: u8 = 0x26;
const DOT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const NINE: u8 = 0x39;
const COLON: u8 = 0x3a;
const SEMICOLON: u8 = 0x3b;
const EQUALS: u8 = 0x3d;
const QUESTION_MARK: u8 = 0x3f;
const OPEN_BRACKET: u8 = 0x5b;
const CLOSE_BRACKET: u8 = 0x5d;

// Position of `char` in [start, end), or `end`.
function indexOf(text: View, char: u8, start: i32, end: i32): i32 {
  let i = start;
  while (i < end && text.at(i) != char) i++;
  return i;
}

function rangeEquals(text: View, start: i32, end: i32, name: Bytes): bool {
  return (
    end - start == name.length && memory.compare(text.ptr + <usize>start, changetype<usize>(name), name.length) == 0
  );
}

function setUnquoted(text: View, start: i32, end: i32, out: View): void {
  if (end - start >= 2 && text.at(start) == QUOTE && text.at(end - 1) == QUOTE) {
    start++;
    end--;
  }
  out.set(text.ptr + <usize>start, end - start);
}
