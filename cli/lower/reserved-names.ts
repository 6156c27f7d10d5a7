// Names that lowering gives. The module keeps what it has read by the digits in them, so under such a name nothing else may
// stand: a route with the digits of another, which are in access logs, would be served by the settings of that one.

import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import { isForeignName } from "./settings.js";
import { METADATA_NAMESPACE } from "./types.js";

/** What is wrong with the name of a route or virtual host that was not lowered, or changed since. */
export function foreignName(named: Cursor): Finding[] {
  const name = named.field("name")?.string() ?? "";
  const settings = named.at("metadata", "filter_metadata", METADATA_NAMESPACE);
  if (!isForeignName(name, settings?.json())) return [];
  return [
    named.findingBelow(["name"], `expected a name that does not end in "@ar-" and digits, found ${name}, ${WHY}`),
  ];
}

const WHY = "which lowering gives to routes with other settings than these: give this one another name";
