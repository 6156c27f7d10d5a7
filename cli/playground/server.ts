// Serves the files of the playground to this machine, and nothing else.

import { readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { MissingModuleError } from "../modules.js";
import { builtPath } from "../module-path.js";

const TYPES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
};

/** A server on the loopback interface; 0 takes a port that is free. @throws MissingModuleError, or a system error */
export async function servePlayground(port: number): Promise<{ url: string; close: () => Promise<void> }> {
  const files = new Map(Object.keys(TYPES).map((name) => [name, contentOf(name)]));
  const server = http.createServer(({ method, url }, response) => {
    const name = (url ?? "").split(/[?#]/)[0]?.slice(1) || "index.html";
    const content = files.get(name);
    if (content === undefined || !["GET", "HEAD"].includes(method ?? "")) return void response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[name],
      "content-length": content.length,
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    response.end(method === "GET" ? content : undefined);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

function contentOf(name: string): Buffer {
  const path = builtPath(`playground/${name}`);
  try {
    return readFileSync(path);
  } catch {
    throw new MissingModuleError(path, "page");
  }
}
