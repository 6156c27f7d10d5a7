import { once } from "node:events";
import http from "node:http";

/** Requests of one kind. */
export interface Requests {
  port: number;
  path: string;
  /** The status of every response. */
  status: number;
}

/** One connection, on which requests go one after another. */
export class Connection {
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly requests: Requests) {}

  /** Sends `count` requests. @throws Error where a response has another status. */
  async send(count: number): Promise<void> {
    const { port, path, status } = this.requests;
    for (let i = 0; i < count; i++) {
      const request = http.get({ agent: this.agent, port, path, host: "127.0.0.1" });
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      response.resume();
      await once(response, "end");
      if (response.statusCode !== status) throw new Error(`${path}: status ${response.statusCode ?? 0}, not ${status}`);
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Sends `count` requests on a connection of their own. @throws Error where a response has another status. */
export async function send(requests: Requests, count: number): Promise<void> {
  const connection = new Connection(requests);
  await connection.send(count);
  connection.close();
}
