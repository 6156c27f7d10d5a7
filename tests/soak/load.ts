import { once } from "node:events";
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const CONNECTIONS = 16;

/** Called for every request that did not get 200. `startedAt` in milliseconds. */
export type OnFailure = (composite: number, status: number, body: string, startedAt: number) => void;

/** An upstream that answers 200, and clients that ask for `/k0`, `/k1`, … in random order. */
export class Load {
  private constructor(
    private readonly server: Server,
    private readonly composites: number,
  ) {}

  static async start(composites: number): Promise<Load> {
    const server = createServer((_, answer) => answer.end("ok"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Load(server, composites);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Sends requests until `end` (milliseconds) and returns how many. */
  async run(port: number, end: number, onFailure: OnFailure): Promise<number> {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const counts = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => this.client(agent, port, end, onFailure)),
    );
    agent.destroy();
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  private async client(agent: Agent, port: number, end: number, onFailure: OnFailure): Promise<number> {
    let count = 0;
    while (Date.now() < end) {
      const composite = Math.floor(Math.random() * this.composites);
      const startedAt = Date.now();
      const { status, body } = await get(agent, port, `/k${composite}`);
      if (status !== 200) onFailure(composite, status, body, startedAt);
      count++;
    }
    return count;
  }
}

async function get(agent: Agent, port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const call = request({ agent, port, path, host: "127.0.0.1" }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    call.on("error", (error) => resolve({ status: 0, body: error.message }));
    call.end();
  });
}
