import { RequestView } from "../decide/request-view";
import { Fields } from "../settings/fields";
import { Route } from "../route/route";
import { OnRouteResult, RouteSpecifier, apply } from "../route/specifier";
import { SpecifierContext, SpecifierType } from "../settings/specifier-type";

/** `attempt_router.v1.DropRoute`: no route, 404 unless a later specifier supplies one. */
@final
class DropRoute extends RouteSpecifier {
  onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult {
    return apply(null);
  }
}

@final
export class DropRouteType extends SpecifierType {
  constructor() {
    super("attempt_router.v1.DropRoute");
  }

  read(fields: Fields, context: SpecifierContext): RouteSpecifier {
    return new DropRoute();
  }
}
