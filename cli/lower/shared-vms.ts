// Which listeners share a virtual machine of the module: those that watch a cluster in common, so that it is asked about once.

import type { Finding } from "../findings.js";
import type { ConnectionManager } from "../model/program.js";
import type { Json } from "../yaml/scalar.js";
import type { CompositeContext } from "./composite-route.js";
import { moduleSettings } from "./module-settings.js";
import type { PreparedRoute } from "./priority-group.js";
import { isMessage } from "./settings.js";

/** The module's configuration and virtual machine for each listener of a file. */
export class ListenerVms {
  private readonly names: Map<string, string>;

  /** @param routesOf The routes of a connection manager. */
  constructor(
    private readonly managers: readonly ConnectionManager[],
    private readonly routesOf: (manager: ConnectionManager) => readonly PreparedRoute[],
    private readonly context: CompositeContext,
  ) {
    const listeners = new Set(managers.map(({ listener }) => listener));
    const settings = [...listeners].map((name) => [name, this.settingsOf((one) => one === name, [])] as const);
    this.names = vmNames(new Map(settings));
  }

  /** Name of the virtual machine of a listener: its own, or that of another listener. */
  nameOf({ listener }: ConnectionManager): string {
    return this.names.get(listener) ?? listener;
  }

  /** All connection managers of a virtual machine get the same configuration of the module; undefined where nothing is watched. */
  settings(manager: ConnectionManager, findings: Finding[]): Json | undefined {
    const name = this.nameOf(manager);
    return this.settingsOf((listener) => (this.names.get(listener) ?? listener) === name, findings);
  }

  private settingsOf(isPart: (listener: string) => boolean, findings: Finding[]): Json | undefined {
    const managers = this.managers.filter(({ listener }) => isPart(listener));
    return moduleSettings(managers.flatMap(this.routesOf), this.context, findings);
  }
}

/** Name of the virtual machine by listener. `settings` has what the module would be told of each, undefined for nothing. */
function vmNames(settings: ReadonlyMap<string, Json | undefined>): Map<string, string> {
  const names = new Map<string, string>();
  for (const [listener, own] of settings) {
    names.set(listener, listener);
    const watched = watchedBy(own);
    const sharing = [...settings].filter(([other]) => names.has(other) && other !== listener);
    for (const [other, theirs] of sharing) {
      if (![...watchedBy(theirs)].some((cluster) => watched.has(cluster))) continue;
      merge(names, names.get(listener) ?? listener, names.get(other) ?? other);
    }
  }
  return names;
}

function merge(names: Map<string, string>, from: string, to: string): void {
  for (const [listener, name] of names) if (name === from) names.set(listener, to);
}

/** What a listener's module asks about, with the way in which it does: two ways cannot share a virtual machine. */
function watchedBy(settings: Json | undefined): Set<string> {
  if (!isMessage(settings)) return new Set();
  const mode = typeof settings["availability"] === "string" ? settings["availability"] : "PROBE";
  const composites = settings["composite_clusters"];
  // Nothing can be used in the place of the last one, so it is not asked about.
  const lists = (Array.isArray(composites) ? composites : [])
    .filter(isMessage)
    .map(({ clusters }) => (Array.isArray(clusters) ? clusters.slice(0, -1) : []));
  const names = lists
    .flat()
    .filter(isMessage)
    .map(({ name }) => name);
  return new Set(names.filter((name) => typeof name === "string").map((name) => `${mode} ${name}`));
}
