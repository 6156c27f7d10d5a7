import { Bytes, NOTHING, decode, encode, encodeLowerCase, sameBytes } from "../bytes";
import { TransformAction, transform } from "../route/header-transforms";
import { decimal } from "../text";
import { Fields } from "./fields";

const ACTIONS: string[] = [
  "APPEND_IF_EXISTS_OR_ADD",
  "ADD_IF_ABSENT",
  "OVERWRITE_IF_EXISTS_OR_ADD",
  "OVERWRITE_IF_EXISTS",
];
const HOST = encode("host");
const PERCENT: u8 = 0x25;

/**
 * Reads the headers to add and to remove of a route, in the order in which Envoy applies them: removals, overwrites,
 * additions.
 */
export function readHeaderTransforms(fields: Fields, toAdd: string, toRemove: string): Bytes {
  let removals = NOTHING;
  let overwrites = NOTHING;
  let additions = NOTHING;
  const removed = fields.bytesList(toRemove, false);
  for (let i = 0; i < removed.length; i++) {
    const name = decode(removed[i]);
    const place = toRemove + "[" + decimal(i) + "]";
    if (!isHeaderName(name)) fields.note(place, "a header that may be changed", '"' + name + '"');
    removals = removals.concat<Bytes>(transform(TransformAction.REMOVE, encodeLowerCase(name), NOTHING));
  }
  const added = fields.list(toAdd);
  for (let i = 0; i < added.length; i++) {
    const option = fields.element(toAdd, i, added[i]);
    const action = <TransformAction>(option.choice("append_action", ACTIONS) + 1);
    const one = readOption(option, action);
    if (action >= TransformAction.OVERWRITE_IF_EXISTS_OR_ADD) overwrites = overwrites.concat<Bytes>(one);
    else additions = additions.concat<Bytes>(one);
  }
  return removals.concat<Bytes>(overwrites).concat<Bytes>(additions);
}

// As natively, a header without value is not added unless it is asked for.
function readOption(option: Fields, action: TransformAction): Bytes {
  const header = option.object("header");
  const keepsEmpty = option.flag("keep_empty_value");
  option.finish();
  if (header == null) {
    option.note("header", "a header", "nothing");
    return NOTHING;
  }
  const key = header.requiredText("key");
  if (!isHeaderName(key)) header.note("key", "a header that may be changed", '"' + key + '"');
  const value = plainValue(header);
  header.finish();
  if (value.length == 0 && !keepsEmpty) return NOTHING;
  return transform(action, encodeLowerCase(key), value);
}

// `%%` is a percent sign; a formatter is Envoy's to evaluate, and the module has none.
function plainValue(header: Fields): Bytes {
  const text = header.text("value");
  const value = encode(text);
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    const char = value[i];
    if (char == 0 || char == 0x0a || char == 0x0d) {
      header.note("value", "a value without control characters", "one with");
    }
    if (char == PERCENT && (++i == value.length || value[i] != PERCENT)) {
      header.note("value", "a value without % formatters", '"' + text + '"');
    }
    value[length++] = char;
  }
  return value.slice<Bytes>(0, length);
}

/** Whether a header of that name may be written: not the pseudo headers and not `host`, as natively. */
export function isHeaderName(name: string): bool {
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i);
    if (char <= 0x20 || char >= 0x7f || char == 0x3a) return false;
  }
  return name.length > 0 && !sameBytes(encodeLowerCase(name), HOST);
}
