import { Bytes, NOTHING, View } from "../bytes";
import { Event } from "./event";
import { findValue, hasOnly, isEmpty, isText, wholeNumber } from "./json";

/** What the value at the path of a JSON condition must be. */
export enum Shape {
  /** There, and not null. */
  PRESENT,
  /** Not there, or null. */
  ABSENT,
  /** Not there, null, or without anything in it. */
  EMPTY,
  /** An object all of whose fields are empty, but for those in `names`. */
  ONLY,
  /** A string: `text`. */
  TEXT,
  /** A whole number: `number`. */
  NUMBER,
  /** The word in `text`: true or false. */
  WORD,
}

const NO_NAMES = new StaticArray<Bytes>(0);
const found = new View();

/** A condition on one value of JSON. */
@final
export class JsonCondition {
  text: Bytes = NOTHING;
  number: i64 = 0;
  names: StaticArray<Bytes> = NO_NAMES;

  constructor(
    readonly path: StaticArray<Bytes>,
    readonly shape: Shape,
  ) {}

  /** Whether it holds for legal JSON. */
  holds(json: View): bool {
    const shape = this.shape;
    const isThere = findValue(json, this.path, found);
    if (shape == Shape.ABSENT || shape == Shape.EMPTY) {
      if (!isThere) return true;
      return shape == Shape.EMPTY ? isEmpty(found) : isNull(found);
    }
    if (!isThere) return false;
    if (shape == Shape.PRESENT) return !isNull(found);
    if (shape == Shape.TEXT) return isText(found, this.text);
    if (shape == Shape.NUMBER) return found.at(0) != QUOTE && wholeNumber(found) == this.number;
    return shape == Shape.WORD ? found.equals(this.text) : hasOnly(found, this.names);
  }
}

const QUOTE: u8 = 0x22;
const SMALL_N: u8 = 0x6e;

function isNull(value: View): bool {
  return value.at(0) == SMALL_N;
}

const NO_CONDITIONS = new StaticArray<JsonCondition>(0);

/** What an event looks like; all that is set must hold. */
@final
export class Rule {
  /** Name of the event. */
  event: Bytes | null = null;
  /** The whole of the event's data. */
  data: Bytes | null = null;
  /** A part of the event's data. */
  text: Bytes | null = null;
  json: StaticArray<JsonCondition> = NO_CONDITIONS;
  /** The media type of the answer, in small letters; empty: any stream of events or JSON. Of an error only. */
  contentType: Bytes = NOTHING;
  /** The status that an error counts as. */
  status: i32 = 0;
  /** Where in the JSON the error's status stands, from 400 to 599; `status` where it does not. */
  statusPath: StaticArray<Bytes> | null = null;

  /** Whether it asks for anything but the media type. */
  get readsBody(): bool {
    return this.event != null || this.data != null || this.text != null || this.json.length > 0;
  }

  matches(event: Event): bool {
    const name = this.event;
    if (name != null && !event.isNamed(name)) return false;
    const data = this.data;
    if (data != null && !event.data.equals(data)) return false;
    const text = this.text;
    if (text != null && !contains(event.data, text)) return false;
    const json = this.json;
    if (json.length > 0 && !event.isJson) return false;
    for (let i = 0; i < json.length; i++) {
      if (!unchecked(json[i]).holds(event.data)) return false;
    }
    return this.readsBody;
  }

  /** The status of an event that matches. */
  statusOf(event: Event): i32 {
    const path = this.statusPath;
    if (path == null || !event.isJson || !findValue(event.data, path, found)) return this.status;
    const number = wholeNumber(found);
    return number >= 400 && number <= 599 ? <i32>number : this.status;
  }
}

function contains(view: View, text: Bytes): bool {
  const last = view.length - text.length;
  for (let at = 0; at <= last; at++) {
    if (memory.compare(view.ptr + <usize>at, changetype<usize>(text), text.length) == 0) return true;
  }
  return false;
}
