import { Bytes, sameBytes } from "../bytes";
import { Rule } from "./rules";

/** Until when an answer is held. */
export enum Until {
  FIRST_CONTENT,
  FIRST_BYTES,
}

/** More errors than any list of settings has; each is a bit of a word. */
export const MAX_ERRORS: i32 = 64;

/** The settings of `hold_response`, ready to judge by. */
@final
export class HoldSettings {
  until: Until = Until.FIRST_CONTENT;
  /** Bytes of the body that are held at most. */
  maxBytes: i32 = 16384;
  /** Comments are no content. */
  skipsComments: bool = false;
  /** Events that are no content. */
  notContent: Array<Rule> = [];
  /** In the order in which they are looked at. */
  errors: Array<Rule> = [];
  /** The status of an answer without content; 0: it is let go. */
  empty: i32 = 0;

  /** Bit per error that may be in an answer of a media type (in small letters). `hasEvents`: it is a stream of events, or JSON. */
  errorsOf(mediaType: Bytes, hasEvents: bool): u64 {
    let bits: u64 = 0;
    for (let i = 0; i < this.errors.length; i++) {
      const type = this.errors[i].contentType;
      const fits = type.length == 0 ? hasEvents : sameBytes(type, mediaType);
      if (fits) bits |= (<u64>1) << i;
    }
    return bits;
  }

  /** The status of an answer whose media type says that it is an error; 0 where it does not. */
  statusOf(mediaType: Bytes): i32 {
    for (let i = 0; i < this.errors.length; i++) {
      const error = this.errors[i];
      if (!error.readsBody && sameBytes(error.contentType, mediaType)) return error.status;
    }
    return 0;
  }
}
