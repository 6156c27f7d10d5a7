// The HTTP side: the modules for the proxies, and what an operator asks for.

import { createServer, type Server } from "node:http";
import { sha256 } from "../../sha256.js";

/** Files that are served under their names. */
export interface ModuleFile {
  path: string;
  bytes: Uint8Array;
  sha256: string;
}

export function moduleFile(path: string, bytes: Uint8Array): ModuleFile {
  return { path, bytes, sha256: sha256(bytes) };
}

export function httpServer(files: readonly ModuleFile[], isReady: () => boolean, metrics: () => string): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = files.find(({ path }) => path === pathname);
    const reply = (status: number, type: string, body: string | Uint8Array): void => {
      response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (request.method !== "GET" && request.method !== "HEAD") reply(405, "text/plain", "GET is expected\n");
    else if (file !== undefined) reply(200, "application/wasm", file.bytes);
    else if (pathname === "/metrics") reply(200, "text/plain; version=0.0.4", metrics());
    else if (pathname === "/healthz") reply(200, "text/plain", "ok\n");
    else if (pathname === "/readyz") reply(isReady() ? 200 : 503, "text/plain", isReady() ? "ok\n" : "stopping\n");
    else reply(404, "text/plain", "not found\n");
  });
}
