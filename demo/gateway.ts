import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { lower } from "../cli/lower.js";
import { localize } from "../tools/envoy/localize.js";
import { EnvoyProcess } from "../tools/envoy/process.js";
import { Providers } from "./providers.js";

const SCENARIO = new URL("../envoy-config/cross-provider-fallback/native.yaml", import.meta.url);
const LISTENER = "ingress";

export interface PriorityGroup {
  name: string;
  clusters: { cluster_name: string; weight: number }[];
}

/** Envoy with the lowered scenario, and the providers behind it. */
export class Gateway {
  private constructor(
    readonly groups: readonly PriorityGroup[],
    readonly providers: Providers,
    readonly envoy: EnvoyProcess,
  ) {}

  /** Lowers the scenario for providers on this machine and starts everything. */
  static async start(envoyVersion: string): Promise<Gateway> {
    const native = await readFile(SCENARIO, "utf8");
    const groups = priorityGroups(parse(native));
    const providers = await Providers.start(clusterNames(groups));
    try {
      const hosts = clusterNames(groups).map((name) => [name.replaceAll("_", "-"), providers.port(name)]);
      const local = localize(native, { hosts: Object.fromEntries(hosts) as Record<string, number> });
      const { text } = lower(local, { file: SCENARIO.pathname });
      return new Gateway(groups, providers, await EnvoyProcess.start(envoyVersion, text));
    } catch (error) {
      await providers.close();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.envoy.port(LISTENER)}/v1/messages`;
  }

  /** Path of the lowered config that Envoy runs. */
  get config(): string {
    return join(this.envoy.directory, "envoy.yaml");
  }

  /** The group of an attempt (1, 2, …): past the end of the list, the last one. */
  groupOf(attempt: number): string {
    return this.groups[Math.min(attempt, this.groups.length) - 1]?.name ?? "";
  }

  /** The native setting that all of this is about, as YAML. */
  get groupsYaml(): string {
    return stringify({ priority_groups: this.groups });
  }

  async stop(): Promise<void> {
    await Promise.all([this.envoy.stop(), this.providers.close()]);
  }
}

function clusterNames(groups: readonly PriorityGroup[]): string[] {
  return [...new Set(groups.flatMap((group) => group.clusters.map((cluster) => cluster.cluster_name)))];
}

/** The first `priority_groups` in a config, wherever it stands. */
function priorityGroups(config: unknown): PriorityGroup[] {
  if (typeof config !== "object" || config === null) return [];
  for (const [key, value] of Object.entries(config)) {
    const groups = key === "priority_groups" ? (value as PriorityGroup[]) : priorityGroups(value);
    if (groups.length > 0) return groups;
  }
  return [];
}
