import type { Specifier } from "../model/specifiers.js";
import type { Cursor } from "../yaml/cursor.js";
import { isTrue, messageAt, text } from "./fields.js";
import { originOf } from "./place.js";

/** The package of the specifiers that ship with the module. */
export const SPECIFIER_PACKAGE = "type.googleapis.com/attempt_router.v1.";

/** The entries of a `route_specifiers` list. */
export function readSpecifiers(holder: Cursor): Specifier[] {
  return holder.list("route_specifiers").map(readSpecifier);
}

function readSpecifier(entry: Cursor): Specifier {
  const config = entry.field("typed_config");
  const url = config?.type() ?? "";
  const when = config?.field("when");
  return {
    name: text(entry, "name"),
    type: url.startsWith(SPECIFIER_PACKAGE) ? url.slice(SPECIFIER_PACKAGE.length) : url,
    get config() {
      return config === undefined ? {} : messageAt(config);
    },
    when: when && { value: messageAt(when), origin: originOf(when) },
    final: isTrue(config, "final"),
    origin: originOf(entry),
  };
}
