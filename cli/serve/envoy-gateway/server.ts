import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { dirname } from "node:path";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { Lowerer } from "../../lowerer.js";
import type { LowerOptions } from "../../lower.js";
import { MODULE_FILES } from "../../module-path.js";
import { readModule } from "../../modules.js";
import { httpServer, moduleFile } from "./http.js";
import { Observer } from "./observer.js";
import { HEALTH, Health, hookHandlers, HOOKS } from "./service.js";

export interface ServerOptions {
  /** `unix:PATH` or `HOST:PORT`, for Envoy Gateway; port 0 is one that the system chooses. */
  listen: string;
  /** `HOST:PORT`, for the proxies and whoever scrapes metrics. */
  http: string;
  /** The base URL under which the proxies reach `http`; undefined: `lowering` says where the module is. */
  moduleUrl: string | undefined;
  /** The proxies know the native specifier: nothing is lowered. */
  native: boolean;
  lowering: LowerOptions;
  log: (line: string) => void;
}

export interface RunningServer {
  /** What to dial: `unix:PATH` or `HOST:PORT` with the real port. */
  grpc: string;
  httpPort: number;
  /** Ends calls that have begun, takes no others, and removes the socket. */
  stop: () => Promise<void>;
}

/** As Envoy Gateway's own `maxMessageSize` is set in the examples. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const STOP_TIMEOUT_MS = 5_000;
const UNIX = "unix:";

/** @throws Error where an address cannot be listened on. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const files = [
    moduleFile("/attempt-router.wasm", readModule(MODULE_FILES, MODULE_FILES.main)),
    moduleFile("/attempt-router-hold.wasm", readModule(MODULE_FILES, MODULE_FILES.hold)),
  ];
  const lowering = { ...options.lowering };
  if (options.moduleUrl !== undefined) {
    const url = new URL("attempt-router.wasm", withSlash(options.moduleUrl)).href;
    lowering.wasmRemote = { url, sha256: files[0]?.sha256 ?? "" };
  }
  const observer = new Observer(options.log);
  const health = new Health();
  const http = httpServer(
    files,
    () => health.ready,
    () => observer.metrics(),
  );
  const httpPort = await listen(http, options.http);
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  server.addService(HOOKS, hookHandlers(options.native ? undefined : new Lowerer(lowering), observer));
  server.addService(HEALTH, health.handlers);
  try {
    const grpc = await bind(server, options.listen);
    observer.log("info", "Started", { grpc, http_port: httpPort });
    return { grpc, httpPort, stop: () => stop(server, http, health) };
  } catch (error) {
    http.close();
    throw error;
  }
}

async function bind(server: Server, address: string): Promise<string> {
  const path = address.startsWith(UNIX) ? address.slice(UNIX.length) : undefined;
  if (path !== undefined) await clearSocket(path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  if (path === undefined) return `${address.slice(0, address.lastIndexOf(":"))}:${port}`;
  // Envoy Gateway may run as another user of the same group.
  chmodSync(path, 0o660);
  return address;
}

/** A server that was killed leaves its socket behind. One that answers is left alone, and listening fails. */
async function clearSocket(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || !lstatSync(path).isSocket()) return;
  const socket = connect(path);
  const isAlive = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  if (!isAlive) rmSync(path);
}

async function listen(server: HttpServer, address: string): Promise<number> {
  const at = address.lastIndexOf(":");
  const host = address.slice(0, at).replace(/^\[|\]$/g, "");
  server.listen(Number(address.slice(at + 1)), host === "" ? undefined : host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server, http: HttpServer, health: Health): Promise<void> {
  health.stop();
  const timer = setTimeout(() => server.forceShutdown(), STOP_TIMEOUT_MS);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(timer);
  http.close();
  http.closeAllConnections();
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}
