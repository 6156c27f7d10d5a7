import { once } from "node:events";
import http from "node:http";
import { createServer, type AddressInfo } from "node:net";

/** Requests of one kind, one after another on one connection. */
export interface Requests {
  port: number;
  path: string;
  /** The status of every response. */
  status: number;
}

/** Sends `count` requests. @throws Error where a response has another status. */
export async function send({ port, path, status }: Requests, count: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < count; i++) {
    const request = http.get({ agent, port, path, host: "127.0.0.1" });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    await once(response, "end");
    if (response.statusCode !== status) throw new Error(`${path}: status ${response.statusCode ?? 0}, not ${status}`);
  }
  agent.destroy();
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
