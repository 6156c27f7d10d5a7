import type { Choice } from "../choose/delivery.js";
import type { ManagerChoice } from "../choose/managers.js";
import type { ConnectionManager } from "../model/program.js";
import type { Route, VirtualHost } from "../model/route.js";
import type { ModuleUse } from "./wiring.js";

/** What `lower` chose, and why. */
export interface Report {
  routes: (Choice & { route: Route; virtualHost: VirtualHost })[];
  managers: {
    manager: ConnectionManager;
    module: ModuleUse | undefined;
    mark: { disabled: boolean } | undefined;
    choice: ManagerChoice;
  }[];
}
