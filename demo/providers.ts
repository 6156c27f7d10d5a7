import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a provider does with every request until told otherwise: answer with a status, or drop the connection. */
export type Mood = number | "down";

/** One attempt as the provider saw it. */
export interface Visit {
  cluster: string;
  mood: Mood;
}

/** The header by which the demo tells its requests apart; Envoy passes it on with every attempt. */
export const REQUEST_HEADER = "x-demo-request";

// POST here on a provider's own port changes what it does: `/demo/answer?429`, `/demo/answer?down`.
const CONTROL_PATH = "/demo/answer";

/** How providers start. */
export interface ProviderOptions {
  /** The port of each cluster's provider; the system chooses those that are not named. */
  ports?: Readonly<Record<string, number>>;
  /** Is told every attempt as it arrives. */
  onVisit?: (visit: Visit) => void;
}

/** HTTP servers on this machine that play the providers, one per cluster. */
export class Providers {
  readonly #visits = new Map<string, Visit[]>();
  readonly #moods = new Map<string, Mood>();
  readonly #servers = new Map<string, Server>();

  private constructor(readonly options: ProviderOptions) {}

  /** Starts one provider per cluster; all answer 200. */
  static async start(clusters: readonly string[], options: ProviderOptions = {}): Promise<Providers> {
    const providers = new Providers(options);
    await Promise.all(clusters.map((cluster) => providers.#listen(cluster)));
    return providers;
  }

  port(cluster: string): number {
    return (this.#servers.get(cluster)?.address() as AddressInfo).port;
  }

  /** The command that makes a provider answer with `mood`. */
  controlCommand(cluster: string, mood: Mood): string {
    return `curl -X POST 'http://127.0.0.1:${this.port(cluster)}${CONTROL_PATH}?${mood}'`;
  }

  /** Sets what the named clusters do; all others answer 200. */
  set(moods: Record<string, Mood>): void {
    this.#moods.clear();
    for (const [cluster, mood] of Object.entries(moods)) this.#moods.set(cluster, mood);
  }

  /** The attempts of the request with this `x-demo-request` header, in the order in which they arrived. */
  visitsOf(request: string): Visit[] {
    return this.#visits.get(request) ?? [];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => closed(server)));
  }

  async #listen(cluster: string): Promise<void> {
    const server = createServer((request, response) => this.#serve(cluster, request, response));
    this.#servers.set(cluster, server);
    server.listen(this.options.ports?.[cluster] ?? 0, "127.0.0.1");
    await once(server, "listening");
  }

  #serve(cluster: string, request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const [path, answer] = (request.url ?? "").split("?");
    if (request.method === "POST" && path === CONTROL_PATH) {
      this.#change(cluster, answer ?? "", response);
      return;
    }
    const mood = this.#moods.get(cluster) ?? 200;
    this.#record(String(request.headers[REQUEST_HEADER] ?? ""), { cluster, mood });
    if (mood === "down") request.socket.destroy();
    else response.writeHead(mood, { "x-served-by": cluster }).end(`${cluster} answers ${mood}\n`);
  }

  #change(cluster: string, answer: string, response: ServerResponse): void {
    if (!/^([2-5]\d\d|down)$/.test(answer)) {
      response.writeHead(400).end(`expected a status from 200 to 599 or down, found "${answer}"\n`);
      return;
    }
    this.#moods.set(cluster, answer === "down" ? answer : Number(answer));
    response.end(`${cluster} now answers ${answer}\n`);
  }

  #record(request: string, visit: Visit): void {
    this.options.onVisit?.(visit);
    const visits = this.#visits.get(request);
    if (visits === undefined) this.#visits.set(request, [visit]);
    else visits.push(visit);
  }
}

async function closed(server: Server): Promise<void> {
  const end = once(server, "close");
  server.close();
  server.closeAllConnections();
  await end;
}
