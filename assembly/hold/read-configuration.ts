import { View } from "../bytes";
import { Fields } from "../settings/fields";
import { NAMESPACE } from "../settings/namespace";
import { Problem } from "../settings/problem";
import { readStruct } from "../settings/struct";
import { MetadataField, findNamespace } from "../wire/metadata";
import { readHoldSettings } from "./read-settings";
import { HoldSettings } from "./settings";

const struct = new View();

/**
 * Reads the configuration of the upstream role: a serialized `Metadata` message with the fields of `hold_response`. What is wrong
 * is noted in `problem`, and the result then means nothing.
 */
export function readHoldConfiguration(configuration: View, problem: Problem): HoldSettings {
  const isThere = findNamespace(configuration, MetadataField.FILTER_METADATA, NAMESPACE, struct);
  const value = isThere ? readStruct(struct) : null;
  if (value != null) return readHoldSettings(new Fields(value, "", problem));
  problem.note("", "an object", "none");
  return new HoldSettings();
}
