import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  Server,
  ServerCredentials,
  type GrpcObject,
  type ServerDuplexStream,
  type ServiceDefinition,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const PROTO = fileURLToPath(new URL("ext_proc.proto", import.meta.url));
const SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface ProcessingRequest {
  request_headers?: { headers: { headers: { key: string; raw_value: Buffer }[] } };
  request_body?: object;
}

type ProcessingResponse = GrpcObject | object;

/** What a processor does with a request: the dynamic metadata by namespace, or undefined for none. */
export type ChooseMetadata = (headers: ReadonlyMap<string, string>) => { [namespace: string]: Json } | undefined;

/** A gRPC server of Envoy's external processing API that answers request headers, or a body, with dynamic metadata. */
export class ExtProcServer {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(choose: ChooseMetadata): Promise<ExtProcServer> {
    const server = new Server();
    const service = loadSync(PROTO, { keepCase: true })[SERVICE] as ServiceDefinition;
    server.addService(service, {
      Process: (call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) => serve(call, choose),
    });
    const bind = promisify(server.bindAsync.bind(server));
    return new ExtProcServer(server, await bind("127.0.0.1:0", ServerCredentials.createInsecure()));
  }

  stop(): void {
    this.server.forceShutdown();
  }
}

function serve(call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>, choose: ChooseMetadata): void {
  call.on("data", ({ request_headers, request_body }: ProcessingRequest) => {
    const lines = request_headers?.headers.headers ?? [];
    const metadata = choose(new Map(lines.map(({ key, raw_value }) => [key, raw_value.toString()])));
    call.write({
      [request_body ? "request_body" : "request_headers"]: { response: {} },
      ...(metadata && { dynamic_metadata: struct(metadata) }),
    });
  });
  call.on("end", () => call.end());
  call.on("error", () => undefined);
}

/** google.protobuf.Struct as proto-loader has it. */
function struct(fields: { [key: string]: Json }): object {
  return { fields: Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, value(item)])) };
}

function value(json: Json): object {
  if (json === null) return { nullValue: 0 };
  if (typeof json === "number") return { numberValue: json };
  if (typeof json === "string") return { stringValue: json };
  if (typeof json === "boolean") return { boolValue: json };
  return Array.isArray(json) ? { listValue: { values: json.map(value) } } : { structValue: struct(json) };
}
