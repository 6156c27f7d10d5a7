import { Bytes, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Plan } from "../decide/plan";
import { BaseRoute } from "../route/route";
import { readAnswers } from "./answers";
import { compile } from "./compile";
import { Fields } from "./fields";
import { readRouteSettings } from "./route-settings";

/** Reads an `attempt_router.v1.ConfiguredRoute`; what is left in `fields` is unknown. */
export function readConfiguredRoute(fields: Fields, candidates: Candidates): BaseRoute {
  const name = encode(fields.text("name"));
  const pin = encode(fields.requiredText("pin"));
  const isEntry = !fields.flag("no_entry");
  const cluster = encode(fields.text("cluster"));
  const settings = fields.object("settings");
  const plan: Plan | null = settings != null ? readOwnPlan(settings, name, candidates) : null;
  fields.finish();
  return new BaseRoute(name, pin, isEntry, cluster, plan);
}

function readOwnPlan(fields: Fields, name: Bytes, candidates: Candidates): Plan | null {
  const settings = readRouteSettings(fields, true);
  const answers = readAnswers(fields, settings);
  fields.finish();
  const plan = compile(settings, name, candidates);
  plan.answers = answers;
  return plan;
}
