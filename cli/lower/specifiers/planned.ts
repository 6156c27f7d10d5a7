// What is planned, and what each step of planning needs to know.

import type { Finding } from "../../findings.js";
import type { RouteConfigSite } from "../../read/resources.js";
import type { Cursor } from "../../yaml/cursor.js";
import type { Editor } from "../../yaml/tree.js";
import type { Behind } from "../copied-state.js";
import type { RouteSettings } from "../settings.js";
import type { Configured } from "./configured.js";

/** The settings of a chain, and where its three lists stand in the file. */
export interface PlannedChain {
  /** The route, virtual host or route configuration whose chain it is. */
  holder: Cursor;
  settings: RouteSettings;
  levels: { route_configuration: Configured[]; virtual_host: Configured[]; route: Configured[] };
}

/** What lowering the route specifiers of a file will change. The output still has the priority groups of the input. */
export interface SpecifierPlan {
  editor: Editor;
  findings: Finding[];
  chains: PlannedChain[];
  /** Offsets of what `lower` refuses elsewhere and that stands in templates. */
  known: Set<number>;
}

/** A route configuration and what its specifiers need to know of it. */
export interface ConfigContext {
  site: RouteConfigSite;
  config: Configured[];
  slots: number;
  plugins: ReadonlyMap<string, Cursor>;
  upstreamChanges: boolean;
  behind: Behind;
}

/** The number of slots that the module accepts. */
export const MAX_SLOTS = 100;
