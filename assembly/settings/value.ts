import { Bytes, NOTHING, decode } from "../bytes";
import { formatNumber } from "../text";

/** Kinds of a value, as `google.protobuf.Value` has them. */
export enum Kind {
  NULL,
  NUMBER,
  STRING,
  BOOL,
  STRUCT,
  LIST,
}

/** One node of a settings tree: the common form of a protobuf Struct and of JSON. */
@final
export class Value {
  number: f64 = 0;
  text: Bytes = NOTHING;
  flag: bool = false;
  /** Names of a struct's fields; the value of `names[i]` is `items[i]`. */
  names: Array<Bytes> = NO_NAMES;
  /** Values of a struct's fields, or the elements of a list. */
  items: Array<Value> = NO_ITEMS;

  constructor(readonly kind: Kind) {}

  /** How an error message shows the value. */
  describe(): string {
    if (this.kind == Kind.NULL) return "null";
    if (this.kind == Kind.NUMBER) return formatNumber(this.number);
    if (this.kind == Kind.STRING) return '"' + decode(this.text) + '"';
    if (this.kind == Kind.BOOL) return this.flag ? "true" : "false";
    if (this.kind == Kind.STRUCT) return "an object";
    return this.items.length == 0 ? "an empty list" : "a list";
  }
}

const NO_NAMES = new Array<Bytes>();
const NO_ITEMS = new Array<Value>();
