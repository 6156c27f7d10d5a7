import { Bytes, View } from "../bytes";

/** How a text is compared. */
export enum TextMatchKind {
  EXACT,
  PREFIX,
  SUFFIX,
  CONTAINS,
}

/** A subset of `envoy.type.matcher.v3.StringMatcher`: bytes against bytes, ASCII letters in either case if asked for. */
@final
export class TextMatch {
  /** `text` is in lower case where `ignoreCase` is set. */
  constructor(
    readonly kind: TextMatchKind,
    readonly text: Bytes,
    readonly ignoreCase: bool,
  ) {}

  matches(value: View): bool {
    const spare = value.length - this.text.length;
    if (spare < 0) return false;
    if (this.kind == TextMatchKind.EXACT) return spare == 0 && this.isAt(value.ptr);
    if (this.kind == TextMatchKind.PREFIX) return this.isAt(value.ptr);
    if (this.kind == TextMatchKind.SUFFIX) return this.isAt(value.ptr + <usize>spare);
    for (let i = 0; i <= spare; i++) {
      if (this.isAt(value.ptr + <usize>i)) return true;
    }
    return false;
  }

  private isAt(ptr: usize): bool {
    const text = this.text;
    if (!this.ignoreCase) return memory.compare(ptr, changetype<usize>(text), text.length) == 0;
    for (let i = 0; i < text.length; i++) {
      if (lowerCase(load<u8>(ptr + <usize>i)) != unchecked(text[i])) return false;
    }
    return true;
  }
}

function lowerCase(char: u8): u8 {
  return char >= 0x41 && char <= 0x5a ? char + 0x20 : char;
}
