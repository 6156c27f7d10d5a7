// What one needs to write a specifier, in one place: docs/writing-a-route-specifier.md.

export { HeaderName, RequestView } from "../decide/request-view";
export { Route, wrap } from "../route/route";
export { OnRouteResult, RouteSpecifier, apply, pass, stop } from "../route/specifier";
export { Fields } from "../settings/fields";
export { Level, SpecifierContext, SpecifierType } from "../settings/specifier-type";
