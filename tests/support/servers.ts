import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = ServerResponse;

/** HTTP servers for upstreams that do more than a script says. */
export class Servers {
  #servers: Server[] = [];

  /** A server that answers every request with `status`, which may be changed. */
  async switchable(): Promise<{ port: number; status: number }> {
    const state = { port: 0, status: 200 };
    state.port = await this.#listen((answer) => answer.writeHead(state.status, { "x-served-by": "switchable" }).end());
    return state;
  }

  /** A server that answers its first request when it is told to. */
  async gated(): Promise<{ port: number; arrived: Promise<void>; release: (status: number) => void }> {
    const gate = { release: (status: number): void => void status };
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const port = await this.#listen((answer) => {
      gate.release = (status) => answer.writeHead(status).end();
      arrive();
    });
    return { port, arrived, release: (status) => gate.release(status) };
  }

  /** Closes every server with its connections. */
  close(): void {
    for (const server of this.#servers) server.close().closeAllConnections();
    this.#servers = [];
  }

  async #listen(answer: (answer: Answer) => void): Promise<number> {
    const server = createServer((_, response) => answer(response));
    this.#servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }
}
