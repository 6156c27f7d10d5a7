// The specifiers that the module has. What imports this file makes them known.

import { registerSpecifier } from "../settings/specifier-type";
import { AuditType } from "./audit";
import { DropRouteType } from "./drop-route";
import { RouteOverrideType } from "./route-override";
import { RouteTemplateType } from "./route-template";

registerSpecifier(new RouteOverrideType());
registerSpecifier(new RouteTemplateType());
registerSpecifier(new DropRouteType());
registerSpecifier(new AuditType());

export { registerSpecifier };
