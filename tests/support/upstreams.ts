import * as http from "node:http";
import * as http2 from "node:http2";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * What an upstream does with one request: answer with a status (a gRPC status for `grpc`; 101 accepts a WebSocket),
 * `reset` the stream, `hang` for ever, or answer with a whole response.
 */
export type Reply = number | "reset" | "hang" | { status: number; headers?: Record<string, string>; body?: string };

/** One reply per request, the last one repeats; `refuse`: nothing listens. */
export type Script = Reply | Reply[] | "refuse";

export type UpstreamProtocol = "http1" | "http2" | "grpc";

export type UpstreamSpec = Script | { protocol: UpstreamProtocol; script: Script };

/** A request as an upstream saw it. `id` is the value of the request's `x-case-request` header. */
export interface Hop {
  upstream: string;
  id: string;
  method: string;
  path: string;
  /** Lower-cased names, in the order on the wire; HTTP/2 pseudo headers included. */
  headers: [name: string, value: string][];
  body: string;
}

/** The header by which the upstreams tell requests apart: Envoy passes it on unchanged on every attempt. */
export const REQUEST_ID_HEADER = "x-case-request";

// A privileged port that nothing listens on: connections are refused at once, and no other process can take it.
const REFUSING_PORT = 1;

type Request = http.IncomingMessage | http2.Http2ServerRequest;
type Answer = http.ServerResponse | http2.Http2ServerResponse;

/** HTTP servers in this process that stand in for the upstreams of a case and record every request they see. */
export class Upstreams {
  readonly hops: Hop[] = [];
  readonly #servers: StandIn[] = [];
  readonly #ports = new Map<string, number>();

  private constructor(readonly specs: Record<string, UpstreamSpec>) {}

  /** Starts one server per entry of `specs`, each on a port the system chooses. */
  static async start(specs: Record<string, UpstreamSpec>): Promise<Upstreams> {
    const upstreams = new Upstreams(specs);
    await Promise.all(Object.entries(specs).map(([name, spec]) => upstreams.#listen(name, spec)));
    return upstreams;
  }

  /** The port of the upstream `name` on 127.0.0.1. */
  port(name: string): number {
    const port = this.#ports.get(name);
    if (port === undefined) throw new Error(`no upstream named ${name}`);
    return port;
  }

  /** The requests seen with this `x-case-request` value, over all upstreams, in order of arrival. */
  hopsOf(id: string): Hop[] {
    return this.hops.filter((hop) => hop.id === id);
  }

  /** Closes every server and every connection. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  async #listen(name: string, spec: UpstreamSpec): Promise<void> {
    const script = scriptOf(spec);
    if (script === "refuse") {
      this.#ports.set(name, REFUSING_PORT);
      return;
    }
    const server = new StandIn(name, protocolOf(spec), script, this.hops);
    this.#servers.push(server);
    this.#ports.set(name, await server.listen());
  }
}

/** The protocol of an upstream; HTTP/1.1 unless its spec says otherwise. */
export function protocolOf(spec: UpstreamSpec): UpstreamProtocol {
  return typeof spec === "object" && "protocol" in spec ? spec.protocol : "http1";
}

function scriptOf(spec: UpstreamSpec): Script {
  return typeof spec === "object" && "protocol" in spec ? spec.script : spec;
}

class StandIn {
  readonly #server: http.Server | http2.Http2Server;
  readonly #connections = new Set<Socket>();
  readonly #replies: Reply[];

  constructor(
    readonly name: string,
    readonly protocol: UpstreamProtocol,
    script: Exclude<Script, "refuse">,
    readonly hops: Hop[],
  ) {
    this.#replies = Array.isArray(script) ? [...script] : [script];
    const serve = (request: Request, answer: Answer) => void this.#serve(request, answer);
    this.#server = protocol === "http1" ? http.createServer(serve) : http2.createServer(serve);
    this.#server.on("connection", (socket: Socket) => this.#track(socket));
    this.#server.on("upgrade", (request: http.IncomingMessage, socket: Duplex) => this.#upgrade(request, socket));
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  #track(socket: Socket): void {
    this.#connections.add(socket);
    socket.on("close", () => this.#connections.delete(socket));
  }

  async #serve(request: Request, answer: Answer): Promise<void> {
    const hop = this.#record(request);
    // The reply is taken on arrival, so that two overlapping requests consume the script in the order of `hops`.
    const reply = this.#nextReply();
    request.on("error", () => undefined);
    answer.on("error", () => undefined);
    hop.body = await bodyOf(request);
    if (reply === "hang") return;
    if (reply === "reset") reset(answer);
    else if (this.protocol === "grpc") this.#answerGrpc(answer as http2.Http2ServerResponse, reply);
    else this.#answer(answer, reply, hop.body);
  }

  #record(request: Request): Hop {
    const headers: [string, string][] = [];
    const raw = request.rawHeaders;
    for (let i = 0; i + 1 < raw.length; i += 2) headers.push([(raw[i] ?? "").toLowerCase(), raw[i + 1] ?? ""]);
    const id = headers.find(([name]) => name === REQUEST_ID_HEADER)?.[1] ?? "";
    const hop = { upstream: this.name, id, method: request.method ?? "", path: request.url ?? "", headers, body: "" };
    this.hops.push(hop);
    return hop;
  }

  #nextReply(): Reply {
    const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0];
    return reply ?? 200;
  }

  #answer(answer: Answer, reply: Exclude<Reply, string>, requestBody: string): void {
    const { status, headers = {}, body } = typeof reply === "number" ? { status: reply } : reply;
    answer.writeHead(status, { ...headers, "x-served-by": this.name });
    answer.end(body ?? (requestBody === "" ? this.name : requestBody));
  }

  #answerGrpc(answer: http2.Http2ServerResponse, reply: Exclude<Reply, string>): void {
    const status = String(typeof reply === "number" ? reply : reply.status);
    const headers = { "content-type": "application/grpc", "x-served-by": this.name };
    if (status !== "0") {
      // An error before any message is a trailers-only response.
      answer.writeHead(200, { ...headers, "grpc-status": status });
      answer.end();
      return;
    }
    answer.writeHead(200, headers);
    answer.addTrailers({ "grpc-status": status });
    answer.end(grpcMessage(this.name));
  }

  #upgrade(request: http.IncomingMessage, socket: Duplex): void {
    this.#record(request);
    const reply = this.#nextReply();
    socket.on("error", () => undefined);
    if (reply === "hang") return;
    if (reply === "reset") {
      socket.destroy();
      return;
    }
    const status = typeof reply === "number" ? reply : reply.status;
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\nx-served-by: ${this.name}\r\n`;
    if (status !== 101) {
      socket.end(`${head}content-length: 0\r\n\r\n`);
      return;
    }
    socket.write(`${head}connection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
    socket.pipe(socket);
  }
}

/** A gRPC message frame: one flag byte, four bytes of length, the payload. */
export function grpcMessage(payload: string): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

async function bodyOf(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The client went away: what arrived is what was seen.
  }
  return Buffer.concat(chunks).toString("latin1");
}

function reset(answer: Answer): void {
  if ("stream" in answer) answer.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  else answer.socket?.destroy();
}
