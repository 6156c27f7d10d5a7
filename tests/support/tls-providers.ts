import { constants } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";

/** The folder of the certificates, which end in a hundred years: `authority.pem` signed `<name>.example.pem`. */
export const CERTIFICATES = fileURLToPath(new URL("../envoy/fixtures/certificates/", import.meta.url));

/** A request as a provider saw it. */
export interface Visit {
  provider: string;
  serverName: string;
  path: string;
  /** Lower-cased names. */
  headers: [name: string, value: string][];
  body: Buffer;
}

/** The header that says what each attempt is answered with: `429,reset,200`, the last one repeats. */
export const ANSWERS_HEADER = "x-answers";

/** HTTPS servers in this process that play providers, each with a certificate for `<name>.example` alone. */
export class TlsProviders {
  readonly visits: Visit[] = [];
  readonly #servers = new Map<string, Server>();

  static async start(names: readonly string[]): Promise<TlsProviders> {
    const providers = new TlsProviders();
    await Promise.all(names.map((name) => providers.#listen(name)));
    return providers;
  }

  port(name: string): number {
    return (this.#servers.get(name)?.address() as AddressInfo).port;
  }

  /** The visits since the last call. */
  take(): Visit[] {
    return this.visits.splice(0);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
  }

  async #listen(name: string): Promise<void> {
    const key = readFileSync(`${CERTIFICATES}${name}.example.key`);
    const cert = readFileSync(`${CERTIFICATES}${name}.example.pem`);
    // Without session tickets, every handshake tells the server name anew.
    const options = { key, cert, maxVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_TICKET } as const;
    const server = createServer(options, (request, answer) => void this.#serve(name, request, answer));
    this.#servers.set(name, server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  async #serve(provider: string, request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
      headers.push([(request.rawHeaders[i] ?? "").toLowerCase(), request.rawHeaders[i + 1] ?? ""]);
    const serverName = String((request.socket as TLSSocket & { servername?: string | false }).servername);
    const visit = { provider, serverName, path: request.url ?? "", headers, body: Buffer.alloc(0) };
    this.visits.push(visit);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    visit.body = Buffer.concat(chunks);
    const answers = String(request.headers[ANSWERS_HEADER] ?? "200").split(",");
    const attempt = Number(request.headers["x-envoy-attempt-count"] ?? 1);
    respond(answer, answers[Math.min(attempt, answers.length) - 1] ?? "200", String(request.headers["x-location"]));
  }
}

function respond(answer: ServerResponse, how: string, location: string): void {
  if (how === "reset") answer.destroy();
  else if (how === "hang") return;
  else if (how === "302") answer.writeHead(302, { location }).end();
  else answer.writeHead(Number(how)).end("answer");
}
