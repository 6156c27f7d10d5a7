// The specifiers of a route, from `attempt_router.v1.RouteSpecifiers` to the chain that runs for a request.

import { Candidates } from "../decide/candidates";
import { SpecifierChain, SpecifierStep } from "../route/specifier-chain";
import { Condition } from "../decide/condition";
import { readCondition } from "./condition";
import { Fields } from "./fields";
import { Level, SpecifierContext, specifierType, specifierTypeNames } from "./specifier-type";

const TYPE_PREFIX = "type.googleapis.com/";

/** Reads the three lists in the order in which they run. */
export function readSpecifiers(fields: Fields, candidates: Candidates): SpecifierChain {
  const steps = new Array<SpecifierStep>();
  const context = new SpecifierContext(candidates);
  readLevel(fields, "route_configuration", context, steps);
  context.level = Level.VIRTUAL_HOST;
  readLevel(fields, "virtual_host", context, steps);
  context.level = Level.ROUTE;
  readLevel(fields, "route", context, steps);
  return new SpecifierChain(StaticArray.fromArray<SpecifierStep>(steps));
}

function readLevel(fields: Fields, name: string, context: SpecifierContext, out: Array<SpecifierStep>): void {
  const items = fields.list(name);
  for (let i = 0; i < items.length; i++) {
    const extension = fields.element(name, i, items[i]);
    context.name = extension.requiredText("name");
    const config = extension.object("typed_config");
    extension.finish();
    if (config == null) extension.note("typed_config", "a specifier's configuration", "nothing");
    else readStep(config, context, out);
  }
}

function readStep(fields: Fields, context: SpecifierContext, out: Array<SpecifierStep>): void {
  const url = fields.requiredText("@type");
  const type = specifierType(url.startsWith(TYPE_PREFIX) ? url.slice(TYPE_PREFIX.length) : url);
  if (type == null) {
    fields.note("@type", "one of " + specifierTypeNames(), '"' + url + '"');
    return;
  }
  const when = fields.object("when");
  const condition: Condition | null = when != null ? readCondition(when) : null;
  const isFinal = fields.flag("final");
  const specifier = type.read(fields, context);
  fields.finish();
  out.push(new SpecifierStep(specifier, condition, isFinal));
}
