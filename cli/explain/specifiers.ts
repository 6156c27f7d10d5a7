// Which route specifiers apply to a request, and the route that comes out of them. The module decides every condition:
// an Audit specifier with the condition of another stands in its place and says whether it was reached and applied.

import { listOf } from "../model/json.js";
import type { Json, JsonMessage, Level, Route, Specifier } from "../model/index.js";
import type { SpecifierRun } from "./explanation.js";
import type { ModulePicks } from "./module-picks.js";
import { overriddenRoute, templateRoute } from "./overridden-route.js";
import type { ExplainedRequest } from "./request.js";
import { percent, type Resolved } from "./resolve.js";

const TYPE_PREFIX = "type.googleapis.com/attempt_router.v1.";
const HEADER = "x-attempt-router-explain";
/** Where a condition hangs on the module's own random value, the share is that of so many runs. */
const SAMPLES = 200;

type LevelName = SpecifierRun["level"];

interface Entry {
  level: LevelName;
  specifier: Specifier;
  settings: JsonMessage;
}

export interface SpecifierResult {
  readonly runs: readonly SpecifierRun[];
  readonly route: Route | undefined;
  readonly undecided: readonly string[];
}

/** Gives the resolved route to its specifiers, level by level. */
export function runSpecifiers(resolved: Resolved, request: ExplainedRequest, module: ModulePicks): SpecifierResult {
  const levels: [LevelName, Level | undefined][] = [
    ["route_configuration", resolved.configuration],
    ["virtual_host", resolved.virtualHost],
    ["route", resolved.route],
  ];
  const entries = levels.flatMap(([level, holder]) => (holder?.specifiers ?? []).map((one) => entryOf(level, one)));
  return new Runner(entries, resolved, request, module).run();
}

function entryOf(level: LevelName, specifier: Specifier): Entry {
  const url = specifier.type.includes("/") ? specifier.type : TYPE_PREFIX + specifier.type;
  const config = specifier.type === "RouteTemplate" ? templateConfig(specifier.config) : specifier.config;
  const settings = { name: specifier.name?.value ?? "s", typed_config: { "@type": url, ...config } };
  return { level, specifier, settings };
}

/** The module is told of a template what it needs: its name, and the part of its match that it can evaluate. */
function templateConfig(config: JsonMessage): JsonMessage {
  const templates = listOf(config["templates"]).map((template) => {
    const route = messageIn(template, "route");
    const cluster = messageIn(route, "route")["cluster"];
    return {
      template_id: template["template_id"] ?? "",
      route: {
        name: typeof route["name"] === "string" ? route["name"] : "template",
        pin: `template/${template["template_id"] as string}`,
        ...("route" in route ? {} : { no_entry: true }),
        ...(typeof cluster === "string" ? { cluster } : {}),
        match: conditionOf(messageIn(route, "match")),
      },
    };
  });
  return { ...config, templates };
}

function conditionOf(match: JsonMessage): JsonMessage {
  const { prefix, path, headers } = match;
  return {
    ...(typeof prefix === "string" && prefix !== "" ? { path: { prefix } } : {}),
    ...(typeof path === "string" ? { path: { exact: path } } : {}),
    ...(headers === undefined ? {} : { headers }),
  };
}

class Runner {
  private readonly runs: SpecifierRun[] = [];
  private readonly undecided: string[] = [];
  private route: Route | undefined;

  constructor(
    private readonly entries: readonly Entry[],
    private readonly resolved: Resolved,
    private readonly request: ExplainedRequest,
    private readonly module: ModulePicks,
  ) {
    this.route = resolved.route;
  }

  run(): SpecifierResult {
    for (const [index, entry] of this.entries.entries()) this.step(index, entry);
    return { runs: this.runs, route: this.route, undecided: this.undecided };
  }

  private step(index: number, { level, specifier, settings }: Entry): void {
    const [because, applied] = this.verdict(index, level, specifier);
    const name = specifier.name?.value ?? "";
    const before = this.route;
    if (applied) this.route = this.apply(index, level, specifier, settings);
    const unchanged = applied && specifier.type !== "Audit" && this.route === before;
    const why = unchanged ? WITHOUT_EFFECT[specifier.type] : undefined;
    this.runs.push({
      level,
      name,
      type: specifier.type,
      applied: why === undefined && applied,
      because: why ?? because,
    });
  }

  private verdict(index: number, level: LevelName, { when, name }: Specifier): [string, boolean] {
    if (this.share(index, level, undefined) === 0) return ["an earlier specifier was final", false];
    if (when === undefined) return ["it has no condition", true];
    const share = this.share(index, level, when.value);
    if (share > 0 && share < 1) {
      const what = JSON.stringify(name?.value ?? "");
      this.undecided.push(
        `the condition of specifier ${what} has a fraction: about ${percent(share)} of such requests`,
      );
      return [`its fraction takes about ${percent(share)} of such requests`, share >= 0.5];
    }
    if (share === 1) return ["its condition holds", true];
    const part = partsOf(when.value).find((one) => this.share(index, level, one) < 1);
    return [`${part === undefined ? "its condition" : JSON.stringify(part)} does not hold`, false];
  }

  /** How many of the requests reach this place with the condition holding: 0, 1 or a sampled share. */
  private share(index: number, level: LevelName, when: JsonMessage | undefined): number {
    const audit: JsonMessage = {
      name: "audit",
      typed_config: {
        "@type": `${TYPE_PREFIX}Audit`,
        response_header: HEADER,
        ...(when === undefined ? {} : { when }),
      },
    };
    const chain = [...this.entries.slice(0, index), { level, settings: audit }];
    const runs = JSON.stringify(chain).includes('"fraction"') ? SAMPLES : 1;
    const held = Array.from({ length: runs }, () => this.audit(chain) !== undefined).filter(Boolean).length;
    return held / runs;
  }

  private apply(
    index: number,
    level: LevelName,
    { type, config }: Specifier,
    settings: JsonMessage,
  ): Route | undefined {
    if (type === "DropRoute") return undefined;
    const audit = { name: "audit", typed_config: { "@type": `${TYPE_PREFIX}Audit`, response_header: HEADER } };
    // Without `final`, so that the audit after it runs.
    const typed = Object.fromEntries(
      Object.entries(settings["typed_config"] as JsonMessage).filter(([key]) => key !== "final"),
    );
    const entry = { level, settings: { ...settings, typed_config: typed } };
    const text = this.audit([...this.entries.slice(0, index), entry, { level, settings: audit }]) ?? "";
    if (type === "RouteTemplate")
      return templateRoute(config, /route=(\S*)/.exec(text)?.[1], this.route, this.resolved.configuration);
    if (type !== "RouteOverride" || this.route?.action.kind !== "route") return this.route;
    return overriddenRoute(this.route, this.route.action.route, config, /cluster=(\S*)/.exec(text)?.[1] ?? "");
  }

  /** What an Audit at the end of a list of specifiers writes; undefined where it is not reached or does not apply. */
  private audit(chain: readonly { level: LevelName; settings: JsonMessage }[]): string | undefined {
    const lists: Record<LevelName, Json[]> = { route_configuration: [], virtual_host: [], route: [] };
    for (const { level, settings } of chain) lists[level].push(settings);
    const { route } = this.resolved;
    const resolved = route && {
      name: route.name?.value ?? "",
      pin: "resolved",
      ...(route.action.kind === "route" ? {} : { no_entry: true }),
    };
    const settings = { route_specifiers: { ...lists, ...(resolved === undefined ? {} : { resolved }), slots: 3 } };
    return this.module.audit(
      settings,
      this.request,
      HEADER,
      route !== undefined,
      this.resolved.virtualHost?.name?.value ?? "",
    );
  }
}

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  RouteOverride: "its condition holds, but there is no forwarding route to override",
  RouteTemplate: "its condition holds, but the match of the template does not",
  DropRoute: "its condition holds, but there is no route to drop",
};

/** The parts of a condition, each a condition of its own. */
function partsOf(when: JsonMessage): JsonMessage[] {
  return Object.entries(when).flatMap(([key, value]) =>
    Array.isArray(value) && key !== "any_of" && key !== "methods"
      ? value.map((item) => ({ [key]: [item] }))
      : [{ [key]: value }],
  );
}

function messageIn(message: JsonMessage, key: string): JsonMessage {
  const value = message[key];
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}
