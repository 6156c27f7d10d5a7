// What an operator sees of the server: a log of JSON lines, and metrics in the format of Prometheus.

import type { TranslateOutcome } from "./hooks.js";
import type { Wish } from "./wish.js";

type Outcome = Omit<TranslateOutcome, "response">;

/** Gateways come and go, and nobody says when: the ones that were seen last are kept. */
const MAX_GATEWAYS = 1000;

export class Observer {
  private readonly calls = new Map<string, { ok: number; failed: number; seconds: number }>();
  private readonly gateways = new Map<string, { served: number; refused: number; said: string }>();
  private saidPassedOver = new Set<string>();

  constructor(private readonly write: (line: string) => void) {}

  log(level: "info" | "warn" | "error", event: string, fields: object): void {
    this.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
  }

  /** @param failure what a hook failed with; undefined where it did not. */
  hook(name: string, seconds: number, failure: unknown): void {
    const calls = this.calls.get(name) ?? { ok: 0, failed: 0, seconds: 0 };
    this.calls.set(name, calls);
    calls.seconds += seconds;
    calls[failure === undefined ? "ok" : "failed"] += 1;
    if (failure === undefined) return;
    const reason = failure instanceof Error ? (failure.stack ?? failure.message) : "unknown";
    this.log("error", "HookFailed", { hook: name, reason });
  }

  /** Says what is new since the last translation of the same Gateway. */
  translated({ of, served, refusals, warnings, misplaced }: Outcome): void {
    const lines: [event: string, fields: object][] = [
      ...refusals.map(({ route, wish, reason }): [string, object] => [
        "RouteRefused",
        { resource: nameOf(wish), route, status: 500, reason },
      ]),
      ...misplaced.map((wish): [string, object] => [
        "PolicyMisplaced",
        { resource: nameOf(wish), reason: "spec.targetRefs: expected an HTTPRoute, found a Gateway or a listener" },
      ]),
      ...warnings.map((reason): [string, object] => ["Warning", { reason }]),
    ];
    const said = JSON.stringify(lines);
    const before = this.gateways.get(of);
    this.gateways.delete(of);
    this.gateways.set(of, { served, refused: refusals.length, said });
    if (this.gateways.size > MAX_GATEWAYS) this.gateways.delete(this.gateways.keys().next().value ?? "");
    if (said === (before?.said ?? "[]")) return;
    for (const [event, fields] of lines) this.log("warn", event, { of, ...fields });
    if (lines.length === 0) this.log("info", "AllRoutesServed", { of, served });
  }

  passedOver(wishes: readonly Wish[]): void {
    for (const wish of wishes) {
      const resource = nameOf(wish);
      if (this.saidPassedOver.has(resource)) continue;
      if (this.saidPassedOver.size >= MAX_GATEWAYS) this.saidPassedOver = new Set();
      this.saidPassedOver.add(resource);
      this.log("warn", "PolicyPassedOver", { resource, reason: "another resource is nearer to the same route" });
    }
  }

  metrics(): string {
    const calls = [...this.calls].sort();
    const gateways = [...this.gateways].sort();
    return [
      ...metric("attempt_router_hook_calls_total", "counter", "Calls of a hook by Envoy Gateway, by how they ended."),
      ...calls.flatMap(([hook, { ok, failed }]) => [
        `attempt_router_hook_calls_total{hook="${hook}",outcome="ok"} ${ok}`,
        `attempt_router_hook_calls_total{hook="${hook}",outcome="failed"} ${failed}`,
      ]),
      ...metric("attempt_router_hook_seconds_total", "counter", "Time that calls of a hook took, in seconds."),
      ...calls.map(([hook, { seconds }]) => `attempt_router_hook_seconds_total{hook="${hook}"} ${seconds.toFixed(6)}`),
      ...metric("attempt_router_routes", "gauge", "Routes with priority groups; refused ones answer 500."),
      ...gateways.flatMap(([of, { served, refused }]) => [
        `attempt_router_routes{of="${label(of)}",state="served"} ${served}`,
        `attempt_router_routes{of="${label(of)}",state="refused"} ${refused}`,
      ]),
      "",
    ].join("\n");
  }
}

function nameOf({ kind, namespace, name }: Wish): string {
  return `${kind} ${namespace}/${name}`;
}

function metric(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function label(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
