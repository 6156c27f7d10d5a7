import * as http from "node:http";
import * as http2 from "node:http2";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { grpcMessage } from "./upstreams.js";

export type ClientProtocol = "http1" | "http2" | "grpc" | "websocket";

/** One request. A header with several values is sent as several lines (HTTP/1.1) or fields (HTTP/2). */
export interface ClientRequest {
  port: number;
  protocol: ClientProtocol;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: string;
}

/**
 * What came back. `status` is null and `error` says why when there was no response. `trailers` is empty unless the
 * protocol is HTTP/2. For a WebSocket that was accepted, `body` is what was echoed.
 */
export interface ClientResponse {
  status: number | null;
  headers: Record<string, string>;
  trailers: Record<string, string>;
  body: string;
  error?: string;
}

const TIMEOUT_MS = 10_000;

/** Sends one request on a connection of its own and reads the whole response. Never rejects. */
export async function send(request: ClientRequest): Promise<ClientResponse> {
  try {
    if (request.protocol === "websocket") return await sendWebSocket(request);
    if (request.protocol === "http1") return await sendHttp1(request);
    return await sendHttp2(request);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { status: null, headers: {}, trailers: {}, body: "", error: code ?? message };
  }
}

async function sendHttp1(request: ClientRequest): Promise<ClientResponse> {
  const call = open(request, request.headers);
  call.end(request.body);
  const [response] = (await once(call, "response")) as [http.IncomingMessage];
  return { ...headOf(response), body: await textOf(response) };
}

async function sendWebSocket(request: ClientRequest): Promise<ClientResponse> {
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const call = open(request, { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", ...upgrade, ...request.headers });
  call.end();
  // A refusal is an ordinary response; only an accepted upgrade hands over the socket.
  const result = await Promise.race([
    once(call, "upgrade") as Promise<[http.IncomingMessage, Duplex]>,
    once(call, "response") as Promise<[http.IncomingMessage]>,
  ]);
  const response = result[0];
  const socket = result[1];
  if (socket === undefined) return { ...headOf(response), body: await textOf(response) };
  return { ...headOf(response), body: await echo(socket, request.body) };
}

async function echo(socket: Duplex, payload: string): Promise<string> {
  socket.write(payload);
  let received = "";
  for await (const chunk of socket) {
    received += (chunk as Buffer).toString("latin1");
    if (received.length >= payload.length) break;
  }
  socket.destroy();
  return received;
}

function open(request: ClientRequest, headers: ClientRequest["headers"]): http.ClientRequest {
  const { port, method, path } = request;
  // A body with a length, so that what reaches the upstream does not depend on how Node would chunk it.
  const length =
    request.body === "" || request.protocol === "websocket" ? {} : { "content-length": request.body.length };
  const call = http.request({
    host: "127.0.0.1",
    port,
    method,
    path,
    agent: false,
    headers: { ...length, ...headers },
  });
  call.setTimeout(TIMEOUT_MS, () => call.destroy(new Error("no response in time")));
  return call;
}

function headOf(response: http.IncomingMessage): Omit<ClientResponse, "body"> {
  return { status: response.statusCode ?? null, headers: flat(response.headers), trailers: {} };
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("latin1");
  for await (const chunk of response) text += chunk as string;
  return text;
}

async function sendHttp2(request: ClientRequest): Promise<ClientResponse> {
  const session = http2.connect(`http://127.0.0.1:${request.port}`);
  try {
    await once(session, "connect");
    return await exchange(session, request);
  } finally {
    session.destroy();
  }
}

async function exchange(session: http2.ClientHttp2Session, request: ClientRequest): Promise<ClientResponse> {
  const isGrpc = request.protocol === "grpc";
  const grpc = isGrpc ? { "content-type": "application/grpc", te: "trailers" } : {};
  const { host = "", ...headers } = request.headers;
  const pseudo = { ":method": request.method, ":path": request.path, ":authority": host };
  const body = isGrpc ? grpcMessage(request.body) : request.body;
  const stream = session.request({ ...pseudo, ...grpc, ...headers }, { endStream: body.length === 0 });
  stream.setTimeout(TIMEOUT_MS, () => stream.destroy(new Error("no response in time")));
  if (body.length > 0) stream.end(body);
  let trailers: Record<string, string> = {};
  stream.on("trailers", (fields: http2.IncomingHttpHeaders) => (trailers = flat(fields)));
  const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader];
  let text = "";
  stream.setEncoding("latin1");
  for await (const chunk of stream) text += chunk as string;
  return { status: head[":status"] ?? null, headers: flat(head), trailers, body: text };
}

function flat(fields: http.IncomingHttpHeaders | http2.IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(fields).filter(([name, value]) => value !== undefined && !name.startsWith(":"));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
