import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Which provider answered what, by the request's `x-id`. */
export interface Hop {
  provider: string;
  id: string;
}

/**
 * HTTP servers that stand in for providers. One whose name ends in `down` answers 503, any other 200; a request to
 * `/held` is answered when it is let go.
 */
export class Providers {
  readonly hops = new Map<string, string[]>();
  readonly ports = new Map<string, number>();
  private readonly held = new Map<string, () => void>();
  private readonly servers: Server[] = [];

  static async start(names: readonly string[]): Promise<Providers> {
    const providers = new Providers();
    for (const name of names) {
      const server = createServer((request, response) => {
        providers.take(name, String(request.headers["x-id"]), request.url ?? "", response);
      });
      // Idle connections stay: a server that closes one just as Envoy reuses it would make a retry of its own.
      server.keepAliveTimeout = 0;
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      providers.servers.push(server);
      providers.ports.set(name, (server.address() as AddressInfo).port);
    }
    return providers;
  }

  /** Whether a request waits at a provider. */
  isHeld(id: string): boolean {
    return this.held.has(id);
  }

  letGo(id: string): void {
    this.held.get(id)?.();
    this.held.delete(id);
  }

  stop(): void {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  private take(name: string, id: string, path: string, response: ServerResponse): void {
    this.hops.set(id, [...(this.hops.get(id) ?? []), name]);
    const answer = () => response.writeHead(name.endsWith("down") ? 503 : 200).end(name);
    const isFirst = this.hops.get(id)?.length === 1;
    if (path === "/held" && isFirst) this.held.set(id, answer);
    else answer();
  }
}
