import * as http from "node:http";
import * as http2 from "node:http2";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";

export type Answer = http.ServerResponse | http2.Http2ServerResponse;

/** What a provider does with one request. */
export type Play = (answer: Answer, request: http.IncomingMessage | http2.Http2ServerRequest) => void;

/** A server in this process that answers as its play says, piece by piece. */
export class Provider {
  /** Requests that came. */
  requests = 0;
  /** Streams that ended before their answer did. */
  aborted = 0;
  readonly #connections = new Set<Socket>();

  private constructor(readonly server: http.Server | http2.Http2Server) {}

  static async start(play: Play, protocol: "http1" | "http2" = "http1"): Promise<Provider> {
    const serve: Play = (answer, request) => {
      provider.requests++;
      request.resume();
      answer.on("error", () => undefined);
      answer.on("close", () => (provider.aborted += answer.writableEnded ? 0 : 1));
      play(answer, request);
    };
    const listener = (request: unknown, answer: unknown) => serve(answer as Answer, request as http.IncomingMessage);
    const server = protocol === "http1" ? http.createServer(listener) : http2.createServer(listener);
    const provider: Provider = new Provider(server);
    server.on("connection", (socket: Socket) => {
      provider.#connections.add(socket);
      socket.on("error", () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return provider;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }
}

export const EVENTS = { "content-type": "text/event-stream" };
export const JSON_TYPE = { "content-type": "application/json" };

/** Answers 200 with these pieces, each a write of its own, one after another. */
export const says =
  (headers: Record<string, string>, ...pieces: (string | Buffer)[]): Play =>
  (answer) => {
    writeHead(answer, headers);
    const next = (index: number): void => {
      const piece = pieces[index];
      if (answer.destroyed) return;
      if (piece === undefined) answer.end();
      else {
        write(answer, piece);
        setImmediate(next, index + 1);
      }
    };
    next(0);
  };

/** As `says`, but the last piece is followed by silence. */
export const stalls =
  (headers: Record<string, string>, ...pieces: string[]): Play =>
  (answer) => {
    writeHead(answer, headers);
    for (const piece of pieces) write(answer, piece);
  };

/** Sends a piece again and again. */
export const repeats =
  (headers: Record<string, string>, piece: string): Play =>
  (answer) => {
    writeHead(answer, headers);
    const timer = setInterval(() => write(answer, piece), 20);
    answer.on("close", () => clearInterval(timer));
  };

function writeHead(answer: Answer, headers: Record<string, string>): void {
  (answer as http.ServerResponse).writeHead(200, headers);
  (answer as http.ServerResponse).flushHeaders();
}

function write(answer: Answer, piece: string | Buffer): void {
  (answer as http.ServerResponse).write(piece);
}
