import { Bytes, decode } from "../bytes";
import { decimal } from "../text";
import { Problem } from "./problem";
import { Kind, Value } from "./value";

/**
 * Typed, strict access to the fields of a settings object. Every field that is asked for is known; `finish` reports the
 * ones that nobody asked for, so that a misspelt name is an error and not a silent default. A getter whose field is
 * absent returns its empty value (null, "", 0, false, []); one whose field has a wrong value notes the problem too.
 */
@final
export class Fields {
  private known: Array<string> = [];

  constructor(
    private value: Value,
    private path: string,
    private problem: Problem,
  ) {
    if (value.kind != Kind.STRUCT) problem.noteValue(path, "an object", value);
  }

  /** Path of a field, for a problem that only the caller can see. */
  at(name: string): string {
    return this.path.length > 0 ? this.path + "." + name : name;
  }

  /** The value of a field; null where it is absent, or null in the settings. */
  find(name: string): Value | null {
    if (!this.known.includes(name)) this.known.push(name);
    const names = this.value.names;
    for (let i = 0; i < names.length; i++) {
      if (decode(names[i]) == name && this.value.items[i].kind != Kind.NULL) return this.value.items[i];
    }
    return null;
  }

  /** Whether a field is there. */
  has(name: string): bool {
    return this.find(name) != null;
  }

  /** Notes what is wrong with a field, or with the object where `name` is empty. */
  note(name: string, expected: string, found: string): void {
    this.problem.note(name.length > 0 ? this.at(name) : this.path, expected, found);
  }

  text(name: string): string {
    const value = this.find(name);
    if (value == null) return "";
    if (value.kind == Kind.STRING) return decode(value.text);
    this.problem.noteValue(this.at(name), "a string", value);
    return "";
  }

  requiredText(name: string): string {
    const value = this.find(name);
    if (value != null && value.kind == Kind.STRING && value.text.length > 0) return decode(value.text);
    this.problem.noteValue(this.at(name), "a string that is not empty", value);
    return "";
  }

  flag(name: string): bool {
    const value = this.find(name);
    if (value == null) return false;
    if (value.kind == Kind.BOOL) return value.flag;
    this.problem.noteValue(this.at(name), "true or false", value);
    return false;
  }

  /** A whole number in [low, high], as a number or as decimal digits in a string. */
  whole(name: string, low: u32, high: u32): u32 {
    const value = this.find(name);
    return value == null ? 0 : this.wholeOf(name, value, low, high);
  }

  requiredWhole(name: string, low: u32, high: u32): u32 {
    return this.wholeOf(name, this.find(name), low, high);
  }

  /** As `requiredWhole`, of the element of the list `name`. */
  wholeElement(name: string, index: i32, value: Value, low: u32, high: u32): u32 {
    return this.wholeOf(name + "[" + decimal(index) + "]", value, low, high);
  }

  /** A number, or one in decimal notation in a string. */
  requiredNumber(name: string): f64 {
    const value = this.find(name);
    const number = value == null ? NaN : numberOf(value);
    if (number == number) return number;
    this.problem.noteValue(this.at(name), "a number", value);
    return 0;
  }

  /** A duration in whole milliseconds (what is below one is cut off); -1 where the field is absent. */
  duration(name: string): i64 {
    const value = this.find(name);
    if (value == null) return -1;
    const digits = value.kind == Kind.STRING ? value.text.length - 1 : -1;
    const isSeconds = digits > 0 && value.text[digits] == SMALL_S;
    const seconds = isSeconds ? parseDecimal(value.text.slice<Bytes>(0, digits)) : NaN;
    if (seconds >= 0 && seconds <= MAX_SECONDS) return <i64>(seconds * 1000 + 1e-6);
    this.problem.noteValue(this.at(name), "a duration in seconds, like 0.25s", value);
    return -1;
  }

  /** A list of strings that are not empty; it has at least one where it is `required`. */
  bytesList(name: string, required: bool): StaticArray<Bytes> {
    const items = required ? this.requiredList(name, "string") : this.list(name);
    const texts = new StaticArray<Bytes>(items.length);
    for (let i = 0; i < items.length; i++) {
      texts[i] = items[i].text;
      if (items[i].kind == Kind.STRING && texts[i].length > 0) continue;
      this.problem.noteValue(this.at(name) + "[" + decimal(i) + "]", "a string that is not empty", items[i]);
    }
    return texts;
  }

  /** One of `names`, as its index; the first where the field is absent. */
  choice(name: string, names: string[]): i32 {
    const text = this.text(name);
    if (text.length == 0) return 0;
    const index = names.indexOf(text);
    if (index < 0) this.problem.note(this.at(name), "one of " + names.join(", "), '"' + text + '"');
    return max(index, 0);
  }

  list(name: string): Array<Value> {
    const value = this.find(name);
    if (value == null) return [];
    if (value.kind == Kind.LIST) return value.items;
    this.problem.noteValue(this.at(name), "a list", value);
    return [];
  }

  /** A list with at least one element of what `elements` names. */
  requiredList(name: string, elements: string): Array<Value> {
    const value = this.find(name);
    if (value != null && value.kind == Kind.LIST && value.items.length > 0) return value.items;
    this.problem.noteValue(this.at(name), "a list of at least one " + elements, value);
    return [];
  }

  /** The fields of an object that is an element of the list `name`. */
  element(name: string, index: i32, value: Value): Fields {
    return new Fields(value, this.at(name) + "[" + decimal(index) + "]", this.problem);
  }

  /** The fields of the object `name`, or null where it is absent. */
  object(name: string): Fields | null {
    const value = this.find(name);
    return value == null ? null : new Fields(value, this.at(name), this.problem);
  }

  /** Reports the first field that nobody asked for. */
  finish(): void {
    const names = this.value.names;
    for (let i = 0; i < names.length; i++) {
      const name = decode(names[i]);
      if (!this.known.includes(name)) {
        this.problem.note(this.at(name), "one of the fields " + this.known.join(", "), "an unknown field");
      }
    }
  }

  private wholeOf(name: string, value: Value | null, low: u32, high: u32): u32 {
    const number = value == null ? NaN : numberOf(value);
    // NaN fails every comparison.
    if (number == Math.trunc(number) && number >= <f64>low && number <= <f64>high) return <u32>number;
    const expected = "a whole number from " + decimal(low) + " to " + decimal(high);
    this.problem.noteValue(this.at(name), expected, value);
    return low;
  }
}

function numberOf(value: Value): f64 {
  if (value.kind == Kind.NUMBER) return value.number;
  return value.kind == Kind.STRING ? parseDecimal(value.text) : NaN;
}

// Digits with at most one point among them; up to 15 digits, which a double holds exactly.
function parseDecimal(text: Bytes): f64 {
  const negative = text.length > 0 && text[0] == MINUS;
  let number: f64 = 0;
  let scale: f64 = 0;
  let digits = 0;
  for (let i = <i32>negative; i < text.length; i++) {
    const digit = <u32>text[i] - 0x30;
    if (text[i] == POINT && scale == 0) scale = 1;
    else if (digit > 9 || ++digits > 15) return NaN;
    else {
      number = number * 10 + <f64>digit;
      scale *= 10;
    }
  }
  if (digits == 0) return NaN;
  if (scale > 0) number /= scale;
  return negative ? -number : number;
}

const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const SMALL_S: u8 = 0x73;
/** The longest duration that a protobuf holds. */
const MAX_SECONDS: f64 = 315576000000;
