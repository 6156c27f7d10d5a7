import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { Client, credentials } from "@grpc/grpc-js";
import type { ConfigObject } from "../../cli/lowerer.js";
import { Codec } from "../../cli/serve/envoy-gateway/codec.js";
import { messageOf } from "../../cli/serve/envoy-gateway/messages.js";
import { startServer, type RunningServer } from "../../cli/serve/envoy-gateway/server.js";

const asIs = (bytes: Buffer): Buffer => bytes;

/** What Envoy Gateway 1.9.1 sent: recorded from a run of it. */
export function recorded(name: string): Buffer {
  return readFileSync(new URL(`recorded/${name}.binpb`, import.meta.url));
}

export function decode(name: string, bytes: Uint8Array): ConfigObject {
  return new Codec().decode(messageOf(`envoygateway.extension.${name}`), bytes) as ConfigObject;
}

export function encode(name: string, value: ConfigObject): Buffer {
  return Buffer.from(new Codec().encode(messageOf(`envoygateway.extension.${name}`), value));
}

/** The extension server on a Unix socket of its own, and a client of it as Envoy Gateway is one. */
export class ExtensionServer {
  readonly log: { event: string; [field: string]: unknown }[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "attempt-router-serve-"));
  running!: RunningServer;
  private client!: Client;

  static async start(native = false): Promise<ExtensionServer> {
    const server = new ExtensionServer();
    server.running = await startServer({
      listen: `unix:${server.folder}/run/extension.sock`,
      http: "127.0.0.1:0",
      // The tests put the real address in its place, which they do not know before.
      moduleUrl: native ? undefined : "http://module-store",
      native,
      lowering: {},
      log: (line) => server.log.push(JSON.parse(line) as ExtensionServer["log"][number]),
    });
    server.client = new Client(server.running.grpc, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
    });
    return server;
  }

  /** Calls a hook. Rejects where the answer is an error. */
  hook(name: string, request: Buffer): Promise<Buffer> {
    return this.call(`/envoygateway.extension.EnvoyGatewayExtension/${name}`, request);
  }

  call(path: string, request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(path, asIs, asIs, request, (error, response) =>
        error === null ? resolve(response ?? Buffer.alloc(0)) : reject(error),
      );
    });
  }

  /** An answer of the HTTP side. */
  get(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.running.httpPort}${path}`);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.running.stop();
    rmSync(this.folder, { recursive: true });
  }
}
