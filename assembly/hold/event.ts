import { Bytes, View, encode, sameBytes } from "../bytes";
import { isJson } from "./json";

const COLON: u8 = 0x3a;
const SPACE: u8 = 0x20;
const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
const DATA = encode("data");
const EVENT = encode("event");
const MESSAGE = encode("message");

/**
 * One event of an answer: an event of a stream of server-sent events (the format of the HTML standard), or one JSON value.
 * It refers to the bytes that it was read from, and is read anew for every event.
 */
@final
export class Event {
  /** The event's data: of several lines, joined by line feeds. */
  readonly data: View = new View();
  /** Some line is a comment. */
  hasComment: bool = false;
  /** Some line is data: without one it is no event that a client is told of. */
  hasData: bool = false;
  /** Some line names the event. */
  hasName: bool = false;

  private readonly name: View = new View();
  /** Memory for data of several lines; 0: none. */
  private joined: usize = 0;
  /** Whether `data` is JSON: 1 yes, 0 no, -1 not known yet. */
  private json: i32 = -1;

  /** Reads the lines of an event: `length` bytes. `release` must follow. */
  readLines(ptr: usize, length: i32): void {
    this.clear();
    const end = ptr + <usize>length;
    for (let at = ptr; at < end; ) {
      let stop = at;
      while (stop < end && !isBreak(load<u8>(stop))) stop++;
      this.readLine(at, stop, length);
      at = stop + 1;
    }
  }

  /** Takes the bytes as the data of an event, which has no name. */
  takeData(ptr: usize, length: i32): void {
    this.clear();
    this.data.set(ptr, length);
    this.hasData = true;
  }

  isNamed(name: Bytes): bool {
    return this.hasName ? this.name.equals(name) : this.hasData && sameBytes(name, MESSAGE);
  }

  /** Whether the data is legal JSON. */
  get isJson(): bool {
    if (this.json < 0) this.json = <i32>isJson(this.data);
    return this.json == 1;
  }

  /** Gives back the memory of joined lines. */
  release(): void {
    if (this.joined != 0) heap.free(this.joined);
    this.joined = 0;
  }

  private clear(): void {
    this.data.set(0, 0);
    this.name.set(0, 0);
    this.hasComment = false;
    this.hasData = false;
    this.hasName = false;
    this.json = -1;
  }

  private readLine(start: usize, end: usize, room: i32): void {
    if (start == end) return;
    let colon = start;
    while (colon < end && load<u8>(colon) != COLON) colon++;
    if (colon == start) {
      this.hasComment = true;
      return;
    }
    let value = min(colon + 1, end);
    if (value < end && load<u8>(value) == SPACE) value++;
    const name = <i32>(colon - start);
    if (isField(start, name, EVENT)) {
      this.name.set(value, <i32>(end - value));
      // A name of no characters is none.
      this.hasName = value < end;
    } else if (isField(start, name, DATA)) this.addData(value, <i32>(end - value), room);
  }

  // The lines of an event and what joins them are not longer than the event: `room` bytes.
  private addData(ptr: usize, length: i32, room: i32): void {
    const data = this.data;
    if (!this.hasData) data.set(ptr, length);
    else {
      if (this.joined == 0) {
        this.joined = heap.alloc(<usize>room);
        memory.copy(this.joined, data.ptr, data.length);
      }
      store<u8>(this.joined + <usize>data.length, LINE_FEED);
      memory.copy(this.joined + <usize>data.length + 1, ptr, length);
      data.set(this.joined, data.length + 1 + length);
    }
    this.hasData = true;
  }
}

/** Whether a byte ends a line. */
export function isBreak(c: u8): bool {
  return c == LINE_FEED || c == CARRIAGE_RETURN;
}

function isField(ptr: usize, length: i32, name: Bytes): bool {
  return length == name.length && memory.compare(ptr, changetype<usize>(name), length) == 0;
}
