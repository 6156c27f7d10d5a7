import { View } from "../bytes";
import { Event } from "./event";
import { Rule } from "./rules";
import { HoldSettings, Until } from "./settings";
import { Byte, Framing, Splitter } from "./splitter";

/** What is known of an answer. */
export enum Verdict {
  /** Nothing yet. */
  HOLD,
  /** It goes to the client. */
  LET_GO,
  /** The same, since more of it may not be held. */
  TOO_LARGE,
  /** It counts as `HeldAnswer.status`. */
  ERROR,
  /** It ended without content, and counts as `HeldAnswer.status`. */
  EMPTY,
}

const FIRST_CAPACITY: i32 = 256;

const event = new Event();

/**
 * An answer that is held back until it is known to be one: what was made out of its body so far. The bytes of an event that is
 * not complete are kept, `max_bytes` of them at most; `release` must follow.
 */
@final
export class HeldAnswer {
  /** What the answer counts as, once it is an error or empty. */
  status: i32 = 0;

  private splitter: Splitter;
  /** Bytes of the body that came. */
  private size: i32 = 0;
  // The beginning of an event.
  private pending: usize = 0;
  private length: i32 = 0;
  private capacity: i32 = 0;

  /** `errors`: bit per error of the settings that the answer may have. */
  constructor(
    private settings: HoldSettings,
    framing: Framing,
    private errors: u64,
  ) {
    this.splitter = new Splitter(needsEvents(settings, framing, errors) ? framing : Framing.NONE);
  }

  /** How many more bytes of the body are of interest. */
  get room(): i32 {
    return max(this.settings.maxBytes - this.size, 0);
  }

  /**
   * Looks at the next `size` bytes of the body: `chunk` has as many of them as there is room for. `isComplete`: no more will
   * come.
   */
  look(chunk: View, size: i32, isComplete: bool): Verdict {
    // Far from wrapping around: past the limit nothing is held.
    this.size += min(size, 1 << 24);
    let verdict = this.splitter.framing == Framing.NONE ? this.take(chunk, isComplete) : this.split(chunk);
    if (verdict == Verdict.HOLD && this.size > this.settings.maxBytes) verdict = Verdict.TOO_LARGE;
    if (verdict != Verdict.HOLD || !isComplete) return verdict;
    if (this.length > 0) verdict = this.judgePending();
    return verdict == Verdict.HOLD ? this.end() : verdict;
  }

  /** Gives back the memory of what was kept. */
  release(): void {
    if (this.pending != 0) heap.free(this.pending);
    this.pending = 0;
    this.length = 0;
    this.capacity = 0;
  }

  // The answer is complete, and nothing in it was content.
  private end(): Verdict {
    this.status = this.settings.empty;
    return this.status > 0 ? Verdict.EMPTY : Verdict.LET_GO;
  }

  // An answer without events: its errors are texts, which may come at its end.
  private take(chunk: View, isComplete: bool): Verdict {
    if (this.errors == 0) return chunk.length > 0 ? Verdict.LET_GO : Verdict.HOLD;
    this.keep(chunk.ptr, chunk.length);
    return isComplete || this.room > 0 || this.length == 0 ? Verdict.HOLD : this.judgePending();
  }

  private split(chunk: View): Verdict {
    const splitter = this.splitter;
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = splitter.take(chunk.at(at));
      if (byte == Byte.WITHIN) continue;
      const verdict = byte == Byte.LAST ? this.judgeTo(chunk, start, at + 1) : Verdict.HOLD;
      this.length = 0;
      if (verdict != Verdict.HOLD) return verdict;
      start = at + 1;
    }
    this.keep(chunk.ptr + <usize>start, chunk.length - start);
    return Verdict.HOLD;
  }

  // Judges the event that ends with these bytes.
  private judgeTo(chunk: View, start: i32, end: i32): Verdict {
    const ptr = chunk.ptr + <usize>start;
    if (this.length == 0) return this.judge(ptr, end - start);
    this.keep(ptr, end - start);
    return this.judgePending();
  }

  private judgePending(): Verdict {
    return this.judge(this.pending, this.length);
  }

  private judge(ptr: usize, length: i32): Verdict {
    if (this.splitter.framing == Framing.LINES) event.readLines(ptr, length);
    else event.takeData(ptr, length);
    const verdict = this.judgeEvent();
    event.release();
    return verdict;
  }

  private judgeEvent(): Verdict {
    const settings = this.settings;
    const errors = settings.errors;
    for (let i = 0; i < errors.length; i++) {
      if (((this.errors >> i) & 1) == 0 || !errors[i].matches(event)) continue;
      this.status = errors[i].statusOf(event);
      return Verdict.ERROR;
    }
    if (settings.until == Until.FIRST_BYTES) return Verdict.LET_GO;
    if (event.hasComment && !settings.skipsComments) return Verdict.LET_GO;
    return event.data.length > 0 && !isSkipped(settings.notContent) ? Verdict.LET_GO : Verdict.HOLD;
  }

  private keep(ptr: usize, length: i32): void {
    const needed = this.length + length;
    if (needed > this.capacity) {
      this.capacity = max(needed, max(2 * this.capacity, FIRST_CAPACITY));
      this.pending = this.pending == 0 ? heap.alloc(this.capacity) : heap.realloc(this.pending, this.capacity);
    }
    memory.copy(this.pending + <usize>this.length, ptr, length);
    this.length = needed;
  }
}

function isSkipped(rules: Array<Rule>): bool {
  for (let i = 0; i < rules.length; i++) {
    if (unchecked(rules[i]).matches(event)) return true;
  }
  return false;
}

// Whether it matters what the events are.
function needsEvents(settings: HoldSettings, framing: Framing, errors: u64): bool {
  if (errors != 0) return true;
  return settings.until == Until.FIRST_CONTENT && (framing == Framing.LINES || settings.notContent.length > 0);
}
