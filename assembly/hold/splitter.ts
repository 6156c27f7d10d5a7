// Where events end, byte by byte: what is known between two bytes is kept, so bytes may come in any pieces.

import { isBreak } from "./event";
import { isSpace } from "./json";

/** How the events of an answer are told apart. */
export enum Framing {
  /** Server-sent events: an empty line ends one. */
  LINES,
  /** JSON values, one after another or in one list: the end of a value ends one. */
  JSON,
  /** Not at all. */
  NONE,
}

/** What a byte is. */
export enum Byte {
  /** A part of an event that goes on. */
  WITHIN,
  /** The last one of an event. */
  LAST,
  /** What stands between events, and ends there. */
  BETWEEN,
}

const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const COMMA: u8 = 0x2c;
const OPEN_LIST: u8 = 0x5b;
const CLOSE_LIST: u8 = 0x5d;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_OBJECT: u8 = 0x7d;
/** The byte order mark, its first byte lowest. */
const MARK: u32 = 0xbfbbef;
const MARK_LENGTH: i32 = 3;

/** Finds the ends of events in bytes that come piece by piece. */
@final
export class Splitter {
  /** Bytes of a byte order mark that were met; -1: the first event has begun. */
  private marks: i32 = 0;
  // Of lines.
  private isLineEmpty: bool = true;
  private wasReturn: bool = false;
  // Of JSON. The list that holds the events is no bracket of theirs.
  private isInList: bool = false;
  private brackets: i32 = 0;
  private isInValue: bool = false;
  private isInString: bool = false;
  private isEscaped: bool = false;

  constructor(public framing: Framing) {}

  /** Takes the next byte. */
  take(c: u8): Byte {
    if (this.marks >= 0) {
      if (this.marks < MARK_LENGTH && c == <u8>(MARK >> (8 * this.marks))) {
        return ++this.marks == MARK_LENGTH ? Byte.BETWEEN : Byte.WITHIN;
      }
      this.marks = -1;
      // Where a server that promised lines fails, it may answer with plain JSON.
      if (this.framing == Framing.LINES && c == OPEN_OBJECT) this.framing = Framing.JSON;
    }
    return this.framing == Framing.LINES ? this.takeOfLine(c) : this.takeOfJson(c);
  }

  private takeOfLine(c: u8): Byte {
    const wasReturn = this.wasReturn;
    this.wasReturn = c == CARRIAGE_RETURN;
    // The second half of a line's end.
    if (wasReturn && c == LINE_FEED) return Byte.WITHIN;
    const wasEmpty = this.isLineEmpty;
    this.isLineEmpty = isBreak(c);
    return wasEmpty && this.isLineEmpty ? Byte.LAST : Byte.WITHIN;
  }

  private takeOfJson(c: u8): Byte {
    if (this.isInString) return this.takeOfString(c);
    if (c == QUOTE) this.isInString = true;
    else if (c == OPEN_LIST || c == OPEN_OBJECT) return this.open(c);
    else if (c == CLOSE_LIST || c == CLOSE_OBJECT) return this.close();
    else if (this.brackets == 0 && (isSpace(c) || c == COMMA)) return this.end();
    this.isInValue = true;
    return Byte.WITHIN;
  }

  private takeOfString(c: u8): Byte {
    if (this.isEscaped) this.isEscaped = false;
    else if (c == BACKSLASH) this.isEscaped = true;
    else if (c == QUOTE) {
      this.isInString = false;
      if (this.brackets == 0) return this.end();
    }
    return Byte.WITHIN;
  }

  private open(c: u8): Byte {
    if (c == OPEN_LIST && !this.isInValue && !this.isInList) {
      this.isInList = true;
      return Byte.BETWEEN;
    }
    this.brackets++;
    this.isInValue = true;
    return Byte.WITHIN;
  }

  private close(): Byte {
    if (this.brackets > 0 && --this.brackets > 0) return Byte.WITHIN;
    return this.end();
  }

  private end(): Byte {
    const wasInValue = this.isInValue;
    this.isInValue = false;
    return wasInValue ? Byte.LAST : Byte.BETWEEN;
  }
}
