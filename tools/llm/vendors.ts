// Stand-ins for vendors of language models: HTTPS servers on this machine that speak chat completions, stream, and fail on demand.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";

/** Certificates that end in a hundred years: `authority.pem` signed `<a|b|c>.example.pem`. */
export const CERTIFICATES = fileURLToPath(new URL("../../tests/envoy/fixtures/certificates/", import.meta.url));

/** The header by which a visit is told to belong to a request. */
export const CALL_HEADER = "x-call";
/** The header that says how the attempts of a request are answered, in order: `429,reset,200`. The last one repeats. */
export const PLAY_HEADER = "x-play";

/**
 * What an attempt is answered with: a status; `reset`; `hang` (nothing comes); `silent` (200 and comments, then nothing);
 * `empty` (200 and an end); `error` (200 and an error for too many requests as first event); `stop` (500 that asks not to retry).
 */
export type Play = number | "reset" | "hang" | "silent" | "empty" | "error" | "stop";

/** A request as a vendor saw it. */
export interface Visit {
  call: string;
  attempt: number;
  cluster: string;
  play: Play;
  /** The server name of the TLS handshake. */
  serverName: string;
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** The clusters of the scenario, by the vendor that serves them. */
const VENDORS = { a: ["vendor_a_large", "vendor_a_small"], b: ["vendor_b"], c: ["vendor_c"] } as const;
type Vendor = keyof typeof VENDORS;

export class Vendors {
  readonly visits: Visit[] = [];
  /** What a cluster answers where the request does not say; default 200. */
  readonly moods = new Map<string, Play>();
  readonly #servers = new Map<Vendor, Server>();

  static async start(): Promise<Vendors> {
    const vendors = new Vendors();
    await Promise.all((Object.keys(VENDORS) as Vendor[]).map((vendor) => vendors.#listen(vendor)));
    return vendors;
  }

  /** Ports by host name. */
  get ports(): Record<string, number> {
    return Object.fromEntries(
      [...this.#servers].map(([vendor, server]) => [`${vendor}.example`, (server.address() as AddressInfo).port]),
    );
  }

  /** The visits of one request, in order of its attempts. */
  visitsOf(call: string): Visit[] {
    return this.visits.filter((visit) => visit.call === call).sort((one, other) => one.attempt - other.attempt);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
  }

  async #listen(vendor: Vendor): Promise<void> {
    const key = readFileSync(`${CERTIFICATES}${vendor}.example.key`);
    const cert = readFileSync(`${CERTIFICATES}${vendor}.example.pem`);
    const server = createServer({ key, cert }, (request, answer) => this.#serve(vendor, request, answer));
    server.keepAliveTimeout = 60_000;
    this.#servers.set(vendor, server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  #serve(vendor: Vendor, request: IncomingMessage, answer: ServerResponse): void {
    const path = request.url ?? "";
    const cluster = VENDORS[vendor][path.startsWith("/deployments/small/") ? 1 : 0] ?? VENDORS[vendor][0];
    const attempt = Number(request.headers["x-envoy-attempt-count"] ?? 1);
    const play = this.#playOf(cluster, attempt, request.headers[PLAY_HEADER]);
    const serverName = String((request.socket as TLSSocket & { servername?: string | false }).servername);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    this.visits.push({ call: headers[CALL_HEADER] ?? "", attempt, cluster, play, serverName, path, headers });
    answer.on("error", () => undefined);
    request.resume();
    request.on("error", () => undefined);
    answer.setHeader("x-vendor", `vendor-${vendor}`);
    request.on("end", () => respond(answer, cluster, play));
  }

  #playOf(cluster: string, attempt: number, header: string | string[] | undefined): Play {
    const list = typeof header === "string" && header !== "" ? header.split(",") : [];
    const said = list[Math.min(attempt, list.length) - 1];
    if (said === undefined) return this.moods.get(cluster) ?? 200;
    return /^\d+$/.test(said) ? Number(said) : (said as Play);
  }
}

const STREAM = { "content-type": "text/event-stream" };

function respond(answer: ServerResponse, cluster: string, play: Play): void {
  if (play === "hang") return;
  if (play === "reset") answer.destroy();
  else if (play === 200) answer.writeHead(200, STREAM).end(contentOf(cluster));
  else if (play === "silent") answer.writeHead(200, STREAM).write(": keep-alive\n\n");
  else if (play === "empty") answer.writeHead(200, STREAM).end("data: [DONE]\n\n");
  else if (play === "error") answer.writeHead(200, STREAM).end(event({ error: ERROR }));
  else if (play === "stop") answer.writeHead(500, { "x-should-retry": "false" }).end(JSON.stringify({ error: ERROR }));
  else answer.writeHead(play, { "content-type": "application/json" }).end(JSON.stringify({ error: ERROR }));
}

const ERROR = { message: "slow down", type: "rate_limit_exceeded", code: "rate_limit_exceeded" };

/** The stream of a vendor that is well: it says which cluster it is. */
export function contentOf(cluster: string): string {
  const delta = (content: object): string =>
    event({ object: "chat.completion.chunk", choices: [{ index: 0, delta: content }] });
  return `${delta({ role: "assistant" })}${delta({ content: `I am ${cluster}.` })}data: [DONE]\n\n`;
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
