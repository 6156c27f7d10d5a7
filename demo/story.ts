import { Agent, request } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Gateway } from "./gateway.js";
import { bars, heading, say, table } from "./print.js";
import { REQUEST_HEADER, type Mood } from "./providers.js";

interface Scene {
  title: string;
  moods: Record<string, Mood>;
  moral: string;
}

// A cluster lets three retries wait at a time unless its circuit breakers say otherwise; a request over that gets no
// retry, which is another story.
const CONCURRENCY = 3;
const PROVIDER_A = ["provider_a_model_1", "provider_a_model_2"];

const SCENES: Scene[] = [
  {
    title: "All providers are well",
    moods: {},
    moral: "The first attempt succeeds: one attempt, in the first group.",
  },
  {
    title: "provider_a is over its limit and answers 429",
    moods: all(PROVIDER_A, 429),
    moral: "429 is retriable here, and the retry goes to the second group.",
  },
  {
    title: "provider_a answers 429, and provider_b drops its connections",
    moods: { ...all(PROVIDER_A, 429), provider_b: "down" },
    moral: "A lost connection moves the request on as a status does.",
  },
  {
    title: "Everybody fails",
    moods: { ...all(PROVIDER_A, 429), provider_b: "down", provider_c: 503 },
    moral: "num_retries is 2, so the third answer is the last one and the client gets it.",
  },
  {
    title: "provider_a has recovered",
    moods: {},
    moral: "Every request starts over at the first group: nothing is remembered between requests.",
  },
];

/** Tells the whole story: single requests while providers fail in turn, then the split over many. */
export async function tell(gateway: Gateway, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  try {
    for (const [index, scene] of SCENES.entries()) await play(gateway, agent, scene, index + 1);
    await split(gateway, agent, requests, {
      title: "the split within provider_a",
      moods: {},
      moral: "Each request draws one random value; its position in the weights 80 and 20 picks the cluster.",
    });
    await split(gateway, agent, requests, {
      title: "while provider_a_model_2 answers 503",
      moods: { provider_a_model_2: 503 },
      moral: "Only the requests that had drawn provider_a_model_2 went on to provider_b.",
    });
  } finally {
    agent.destroy();
  }
}

async function play(gateway: Gateway, agent: Agent, scene: Scene, number: number): Promise<void> {
  heading(`${number}. ${scene.title}`);
  gateway.providers.set(scene.moods);
  const id = `scene-${number}`;
  const { status, servedBy } = await post(gateway, agent, id);
  const rows = gateway.providers.visitsOf(id).map(({ cluster, mood }, index) => {
    const attempt = index + 1;
    return [String(attempt), gateway.groupOf(attempt), cluster, mood === "down" ? "connection lost" : String(mood)];
  });
  table(["attempt", "group", "cluster", "status"], rows);
  say(`  The client got ${status}${servedBy === "" ? "" : ` from ${servedBy}`}. ${scene.moral}`);
}

async function split(gateway: Gateway, agent: Agent, requests: number, scene: Scene): Promise<void> {
  heading(`${requests} requests: ${scene.title}`);
  gateway.providers.set(scene.moods);
  const names = gateway.groups.flatMap((group) => group.clusters.map((cluster) => cluster.cluster_name));
  const counts = new Map(names.map((name) => [name, 0]));
  const left = Array.from({ length: requests }, (_, index) => `${scene.title} ${index}`);
  const send = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const { servedBy } = await post(gateway, agent, id);
      counts.set(servedBy, (counts.get(servedBy) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, send));
  say("  Who gave the answer that the client got:");
  bars(counts);
  say(`  ${scene.moral}`);
}

async function post(gateway: Gateway, agent: Agent, id: string): Promise<{ status: number; servedBy: string }> {
  const call = request(gateway.url, { method: "POST", agent, headers: { [REQUEST_HEADER]: id } });
  call.end("{}");
  const [response] = (await once(call, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return { status: response.statusCode ?? 0, servedBy: String(response.headers["x-served-by"] ?? "") };
}

function all(clusters: readonly string[], mood: Mood): Record<string, Mood> {
  return Object.fromEntries(clusters.map((cluster) => [cluster, mood]));
}
