import { encode } from "../bytes";
import { Condition } from "../decide/condition";
import { RequestView } from "../decide/request-view";
import { readCondition } from "../settings/condition";
import { Fields } from "../settings/fields";
import { readConfiguredRoute } from "../settings/configured-route";
import { BaseRoute, Route, wrap } from "../route/route";
import { OnRouteResult, RouteSpecifier, apply, pass } from "../route/specifier";
import { SpecifierContext, SpecifierType } from "../settings/specifier-type";

/** `attempt_router.v1.RouteTemplate`: the named route, where its match holds. */
@final
class RouteTemplate extends RouteSpecifier {
  constructor(
    private readonly template: BaseRoute,
    private readonly match: Condition | null,
    /** Only the proxy can evaluate all of the match: where it does not hold, it takes the route that was given. */
    private readonly proxyMatches: bool,
  ) {
    super();
  }

  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    const match = this.match;
    if (match != null && !match.holds(request, true, seed)) return pass(route);
    if (!this.proxyMatches) return apply(this.template);
    const result = wrap(this.template);
    result.setFallback(route != null ? route.base.pin : NO_ROUTE);
    return apply(result);
  }
}

/** The pin of a fallback where there was no route. */
const NO_ROUTE = encode("(no route)");

@final
export class RouteTemplateType extends SpecifierType {
  constructor() {
    super("attempt_router.v1.RouteTemplate");
  }

  read(fields: Fields, context: SpecifierContext): RouteSpecifier {
    const id = fields.requiredText("template_id");
    const templates = fields.requiredList("templates", "template");
    const ids = new Array<string>();
    let chosen: Fields | null = null;
    for (let i = 0; i < templates.length; i++) {
      const template = fields.element("templates", i, templates[i]);
      const own = template.requiredText("template_id");
      if (ids.includes(own)) template.note("template_id", "an id that no other template has", '"' + own + '"');
      ids.push(own);
      const route = template.object("route");
      if (route == null) template.note("route", "a route", "nothing");
      if (own == id) chosen = route;
      template.finish();
    }
    if (!ids.includes(id)) fields.note("template_id", "one of " + ids.join(", "), '"' + id + '"');
    return chosen != null ? readTemplate(chosen, context) : new RouteTemplate(NONE, null, false);
  }
}

const NONE = new BaseRoute(NO_ROUTE, NO_ROUTE, false, NO_ROUTE, null);

function readTemplate(fields: Fields, context: SpecifierContext): RouteSpecifier {
  const match = fields.object("match");
  const proxyMatches = fields.flag("proxy_matches");
  const condition = match != null ? readCondition(match) : null;
  return new RouteTemplate(readConfiguredRoute(fields, context.candidates), condition, proxyMatches);
}
