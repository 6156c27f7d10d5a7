// The specifiers of a route, from `attempt_router.v1.RouteSpecifiers` to the chain that runs for a request.

import { Chain, ChainStep } from "../decide/chain";
import { Condition } from "../decide/condition";
import { specifierType, specifierTypeNames } from "../specifiers/registry";
import { Level } from "../specifiers/specifier";
import { readCondition } from "./condition";
import { Fields } from "./fields";

const TYPE_PREFIX = "type.googleapis.com/";

/** Reads the three lists in the order in which they run. */
export function readChain(fields: Fields): Chain {
  const steps = new Array<ChainStep>();
  readLevel(fields, "route_configuration", Level.ROUTE_CONFIGURATION, steps);
  readLevel(fields, "virtual_host", Level.VIRTUAL_HOST, steps);
  readLevel(fields, "route", Level.ROUTE, steps);
  return new Chain(StaticArray.fromArray<ChainStep>(steps));
}

function readLevel(fields: Fields, name: string, level: Level, out: Array<ChainStep>): void {
  const items = fields.list(name);
  for (let i = 0; i < items.length; i++) {
    const extension = fields.element(name, i, items[i]);
    const own = extension.requiredText("name");
    const config = extension.object("typed_config");
    extension.finish();
    if (config == null) extension.note("typed_config", "a specifier's configuration", "nothing");
    else readStep(config, own, level, out);
  }
}

function readStep(fields: Fields, name: string, level: Level, out: Array<ChainStep>): void {
  const url = fields.requiredText("@type");
  const type = specifierType(url.startsWith(TYPE_PREFIX) ? url.slice(TYPE_PREFIX.length) : url);
  if (type == null) {
    fields.note("@type", "one of " + specifierTypeNames(), '"' + url + '"');
    return;
  }
  const when = fields.object("when");
  const condition: Condition | null = when != null ? readCondition(when) : null;
  const isFinal = fields.flag("final");
  const specifier = type.read(fields, name, level);
  fields.finish();
  out.push(new ChainStep(specifier, condition, isFinal));
}
