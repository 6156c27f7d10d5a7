// Stand-ins for the upstreams of a config: they answer what a test says, and note who was asked.

import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Answer } from "../explain/request.js";
import { response } from "../explain/request.js";

/** Tells apart the requests of tests. */
export const TEST_HEADER = "x-attempt-router-test";

type Request = http.IncomingMessage | http2.Http2ServerRequest;
type Reply = http.ServerResponse | http2.Http2ServerResponse;

/** One server for each cluster. */
export class StandIns {
  private readonly servers: (http.Server | http2.Http2Server)[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly scripts = new Map<string, ReadonlyMap<string, readonly Answer[]>>();
  private readonly seen = new Map<string, string[]>();

  /** @returns the port of the cluster's server */
  async listen(cluster: string, usesHttp2: boolean): Promise<number> {
    const serve = (request: Request, reply: Reply): void => this.serve(cluster, request, reply);
    const server = usesHttp2 ? http2.createServer(serve) : http.createServer(serve);
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
      socket.on("error", () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  /** Starts a request's notes: from now on its answers are these. */
  begin(id: string, answers: ReadonlyMap<string, readonly Answer[]>): void {
    this.scripts.set(id, answers);
    this.seen.set(id, []);
  }

  /** The clusters that saw a request, in order. */
  attemptsOf(id: string): string[] {
    return this.seen.get(id) ?? [];
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  private serve(cluster: string, request: Request, reply: Reply): void {
    const id = String(request.headers[TEST_HEADER]);
    const seen = this.seen.get(id) ?? [];
    const list = this.scripts.get(id)?.get(cluster) ?? [];
    const count = seen.filter((name) => name === cluster).length;
    seen.push(cluster);
    const answer = list[Math.min(count, list.length - 1)] ?? response(200);
    request.on("error", () => undefined);
    reply.on("error", () => undefined);
    request.resume();
    request.on("end", () => send(reply, answer));
  }
}

/** A good answer has content: without any, `hold_response` takes it for a failed one. */
const CONTENT_OF: Readonly<Record<number, string>> = { 200: "ok\n", 201: "ok\n", 202: "ok\n", 203: "ok\n" };

function send(reply: Reply, answer: Answer): void {
  if (answer.kind === "timeout") return;
  if (answer.kind === "response") {
    reply.writeHead(answer.status, { ...answer.headers });
    reply.end(CONTENT_OF[answer.status] ?? "");
    return;
  }
  const code =
    answer.kind === "refused-stream" ? http2.constants.NGHTTP2_REFUSED_STREAM : http2.constants.NGHTTP2_INTERNAL_ERROR;
  if ("stream" in reply) reply.stream.close(code);
  else reply.socket?.destroy();
}
