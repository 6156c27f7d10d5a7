// `npm run demo -- --story gateway`: the scenario envoy-config/llm-gateway, one request after another.

import { LlmGateway } from "../tools/llm/gateway.js";
import { CALL_HEADER, PLAY_HEADER, type Play, type Visit } from "../tools/llm/vendors.js";
import { colors } from "../tools/terminal.js";
import { waitFor } from "../tools/wait.js";
import { heading, say, table } from "./print.js";

interface Scene {
  title: string;
  /** How the attempts are answered, in order. */
  plays: Play[];
  headers?: Record<string, string>;
  /** What happened before. */
  before?: (gateway: LlmGateway) => Promise<void>;
  moral: string;
}

const SCENES: Scene[] = [
  {
    title: "All vendors are well",
    plays: [200],
    moral: "vendor_a's models share the requests 80/20.",
  },
  {
    title: "vendor_a has had too many requests",
    plays: [429, 200],
    moral: "Its second group has the same limit: a step leads past it.",
  },
  {
    title: "vendor_a answers 200, and its stream begins with an error",
    plays: ["error", 200],
    moral: "The stream was held until its first content. The client saw nothing of it.",
  },
  {
    title: "vendor_a answers 200, then falls silent; its other model ends without a word",
    plays: ["silent", "empty", 200],
    moral: "The time of an attempt is the time to the first content.",
  },
  {
    title: "vendor_a resets its connections, and vendor_b fails",
    plays: ["reset", "reset", 503, 200],
    moral: "Each vendor saw its own host, path and key, and nothing of another's.",
  },
  {
    title: "vendor_a says that another attempt is of no use",
    plays: ["stop"],
    moral: "STOP: the answer is the client's, although the retry policy would have tried again.",
  },
  {
    title: "A request of the tenant hospital",
    plays: [503, 200],
    headers: { "x-tenant": "hospital" },
    moral: "Its chain is vendor_c, then vendor_b: its requests never leave for vendor_a.",
  },
  {
    title: "Both models of vendor_a have answered 529 a moment ago",
    plays: [200],
    before: overloadVendorA,
    moral: "They cool down: no attempt is wasted on them, and vendor_b sees its own host, path and key.",
  },
];

const TOLD: Readonly<Record<string, string>> = {
  reset: "connection lost",
  silent: "200, then silence",
  empty: "200, no content",
  error: "200, an error in the stream",
  stop: "500, do not retry",
};

/** Starts the scenario, with short times for the reader's sake, and a status of its own that clusters cool down by. */
export function startLlmGateway(version: string): Promise<LlmGateway> {
  const replace = [
    ["per_try_timeout: 10s", "per_try_timeout: 1s"],
    ["{statuses: [429], base: 10s}", "{statuses: [529], base: 10s}"],
  ] as const;
  return LlmGateway.start(version, { replace });
}

/** Until the workers know that both models cool down. */
async function overloadVendorA({ url, vendors }: LlmGateway): Promise<void> {
  for (const model of ["vendor_a_large", "vendor_a_small"]) vendors.moods.set(model, 529);
  let calls = 0;
  await waitFor("vendor_a to cool down", async () => {
    const call = `overload-${calls++}`;
    await (await fetch(url, { method: "POST", body: "{}", headers: { [CALL_HEADER]: call } })).text();
    return vendors.visitsOf(call)[0]?.cluster === "vendor_b";
  });
  vendors.moods.clear();
}

/** Sends one request for each scene, then shows what operators see of them. */
export async function tellGateway(gateway: LlmGateway): Promise<void> {
  for (const [index, scene] of SCENES.entries()) {
    await scene.before?.(gateway);
    await play(gateway, scene, index + 1);
  }
  await showLogs(gateway);
  await showCounters(gateway);
}

async function play(gateway: LlmGateway, { title, plays, headers = {}, moral }: Scene, number: number): Promise<void> {
  heading(`${number}. ${title}`);
  const call = `scene-${number}`;
  const own = { [CALL_HEADER]: call, [PLAY_HEADER]: plays.join(","), authorization: "Bearer the client's own" };
  const response = await fetch(gateway.url, { method: "POST", body: "{}", headers: { ...own, ...headers } });
  const content = /I am (\w+)/.exec(await response.text())?.[1];
  table(["attempt", "cluster", "path", "key", "answer"], gateway.vendors.visitsOf(call).map(rowOf));
  say(`  The client got ${response.status}${content === undefined ? "" : ` and the stream of ${content}`}. ${moral}`);
}

function rowOf({ attempt, cluster, path, headers, play: played }: Visit): string[] {
  const key = headers["authorization"] ?? headers["x-api-key"] ?? headers["api-key"] ?? "none";
  return [String(attempt), cluster, path, key, TOLD[played] ?? String(played)];
}

async function showLogs(gateway: LlmGateway): Promise<void> {
  const requests = () => gateway.logged.filter(({ attempts }) => attempts !== undefined);
  const all = await waitFor("the access log", () => requests().length >= SCENES.length && requests());
  const id = all[4]?.["request_id"];
  heading("The log of request 5: a line for each attempt, then one for the request");
  for (const line of gateway.logged) if (line["request_id"] === id) say(colors.dim(`  ${JSON.stringify(line)}`));
}

async function showCounters(gateway: LlmGateway): Promise<void> {
  heading("Counters, as Prometheus gets them");
  const lines = (await gateway.envoy.admin.get("/stats/prometheus")).split("\n");
  const own = /^(envoy_llm_gateway_requests|attempt_router_held_|attempt_router_heartbeats)/;
  for (const line of lines.filter((one) => own.test(one))) say(colors.dim(`  ${line}`));
}
