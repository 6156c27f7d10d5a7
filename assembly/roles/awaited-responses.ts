import { Role } from "./role";

/** Stream contexts that are told apart; ids count up, so these are the newest. */
const REMEMBERED: u32 = 1 << 16;
/** Contexts in a word, each with the two bits of a role. */
const PER_WORD: u32 = 16;

/**
 * Which streams' responses the module has work for, and in which role. The proxy calls for every response; for all but a
 * few the answer is no, and is known here without asking the proxy anything. Two bits per context: nothing has to be
 * cleaned up where a stream ends without a response.
 */
@final
export class AwaitedResponses {
  private words: StaticArray<u32> = new StaticArray<u32>(REMEMBERED / PER_WORD);
  private newest: u32 = 0;

  /** A context begins; it awaits nothing. */
  begin(context: u32): void {
    const index = wordOf(context);
    unchecked((this.words[index] &= ~(3 << shiftOf(context))));
    this.newest = context;
  }

  expect(context: u32, role: Role): void {
    const index = wordOf(context);
    unchecked((this.words[index] |= (<u32>role) << shiftOf(context)));
  }

  /** Whether a context is so old that its bits stand for another one. */
  isForgotten(context: u32): bool {
    return this.newest - context >= REMEMBERED;
  }

  /** The role in which a context awaits its response; UNKNOWN where it awaits none. */
  awaiting(context: u32): Role {
    return <Role>((unchecked(this.words[wordOf(context)]) >> shiftOf(context)) & 3);
  }
}

function wordOf(context: u32): u32 {
  return (context % REMEMBERED) / PER_WORD;
}

function shiftOf(context: u32): u32 {
  return (context % PER_WORD) * 2;
}
