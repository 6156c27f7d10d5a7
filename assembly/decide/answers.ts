// What the answer of an attempt means for the next one, and whether it is recorded.

import { Bytes } from "../bytes";
import { HeaderMatch } from "./condition";

/** Where a request goes after an answer that a step is for. */
export enum Next {
  /** To the group after that of this attempt. */
  NEXT,
  /** To the group of this attempt again. */
  STAY,
  /** Nowhere: the answer is the client's, whatever the retry policy says. */
  STOP,
  /** To the group of that name. */
  GROUP,
}

/** One of a route's `steps`. */
@final
export class Step {
  constructor(
    /** None: any status. */
    readonly statuses: StaticArray<u32>,
    /** Bit n: the statuses from n * 100 on. */
    readonly classes: u32,
    readonly headers: StaticArray<HeaderMatch>,
    readonly next: Next,
    /** Index of the group of Next.GROUP among the configured ones. */
    readonly group: i32,
  ) {}

  /** Whether the step is for a status, as far as that goes. */
  isFor(status: u32): bool {
    const statuses = this.statuses;
    if (statuses.length == 0 && this.classes == 0) return true;
    for (let i = 0; i < statuses.length; i++) {
      if (unchecked(statuses[i]) == status) return true;
    }
    return (this.classes & (1 << (status / 100))) != 0;
  }
}

/** What a route's settings say about the answers of its attempts. */
@final
export class Answers {
  constructor(
    /** The attempts are recorded in filter state `wasm.attempt_router.attempts`. */
    readonly records: bool,
    /** The response header that shows the record to the client, or null. */
    readonly responseHeader: Bytes | null,
    /** In order: the first one that is for an answer counts. */
    readonly steps: StaticArray<Step>,
    /** Milliseconds after which an attempt without an answer has timed out; 0: it never does. */
    readonly perTryTimeout: u32,
    /** Milliseconds of the request's `timeout` that must be left for another attempt. */
    readonly minAttemptTime: u32,
    /** Time limit of the request in milliseconds; 0: it has none. */
    readonly timeout: u32,
  ) {}

  /** Whether an answer may have to be the last one, whatever the retry policy says. */
  get mayStop(): bool {
    return this.hasSteps || this.timeout > 0;
  }

  /** Whether too little is left for another attempt, `elapsed` ms after the request began. */
  isTooLate(elapsed: u64): bool {
    return this.timeout > 0 && elapsed + this.minAttemptTime > this.timeout;
  }

  get hasSteps(): bool {
    return this.steps.length > 0;
  }

  /** The group (1, 2, …) of the attempt after one of group `turn`, by a step that is no STOP. */
  static turnAfter(step: Step, turn: u32): u32 {
    if (step.next == Next.GROUP) return step.group + 1;
    return step.next == Next.STAY ? turn : turn + 1;
  }
}
