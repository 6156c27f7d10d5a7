// The gRPC side: Envoy Gateway's hooks and the health of the server.

import type {
  handleServerStreamingCall,
  handleUnaryCall,
  MethodDefinition,
  ServerWritableStream,
  ServiceDefinition,
} from "@grpc/grpc-js";
import type { Lowerer } from "../../lowerer.js";
import { postRouteModify, postTranslateModify, ROUTE_FIELDS, TRANSLATE_FIELDS, untouched } from "./hooks.js";
import type { Observer } from "./observer.js";

type Unary = handleUnaryCall<Buffer, Buffer>;

export const HOOKS: ServiceDefinition = Object.fromEntries(
  ["PostRouteModify", "PostTranslateModify"].map((name) => [
    name,
    method(`/envoygateway.extension.EnvoyGatewayExtension/${name}`, false),
  ]),
);

/**
 * Neither hook answers with an error, whatever it is given: an error would stop all updates of the Gateway, also those of
 * other users. What cannot be read goes back as it came.
 */
export function hookHandlers(lowerer: Lowerer | undefined, observer: Observer): Record<string, Unary> {
  const handler = (hook: string, run: (request: Buffer) => Uint8Array, fields: ReadonlyMap<number, number>): Unary => {
    return ({ request }, reply) => {
      const started = performance.now();
      let response: Uint8Array;
      let failure: unknown;
      try {
        response = run(request);
      } catch (error) {
        failure = error;
        response = untouched(request, fields);
      }
      observer.hook(hook, (performance.now() - started) / 1000, failure);
      reply(null, Buffer.from(response));
    };
  };
  return {
    PostRouteModify: handler(
      "PostRouteModify",
      (request) => {
        const { response, passedOver } = postRouteModify(request);
        observer.passedOver(passedOver);
        return response;
      },
      ROUTE_FIELDS,
    ),
    PostTranslateModify: handler(
      "PostTranslateModify",
      (request) => {
        const { response, ...outcome } = postTranslateModify(request, lowerer);
        observer.translated(outcome);
        return response;
      },
      TRANSLATE_FIELDS,
    ),
  };
}

export const HEALTH: ServiceDefinition = {
  Check: method("/grpc.health.v1.Health/Check", false),
  Watch: method("/grpc.health.v1.Health/Watch", true),
};

/** HealthCheckResponse: field 1 is SERVING or NOT_SERVING. */
const SERVING = Buffer.from([8, 1]);
const NOT_SERVING = Buffer.from([8, 2]);

/** Whoever asks is told the same for every service. */
export class Health {
  private isServing = true;
  private readonly watchers = new Set<ServerWritableStream<Buffer, Buffer>>();

  readonly handlers: { Check: Unary; Watch: handleServerStreamingCall<Buffer, Buffer> } = {
    Check: (_, reply) => reply(null, this.status),
    Watch: (call) => {
      call.write(this.status);
      this.watchers.add(call);
      call.on("cancelled", () => this.watchers.delete(call));
    },
  };

  get ready(): boolean {
    return this.isServing;
  }

  stop(): void {
    this.isServing = false;
    for (const call of this.watchers) {
      call.write(NOT_SERVING);
      call.end();
    }
  }

  private get status(): Buffer {
    return this.isServing ? SERVING : NOT_SERVING;
  }
}

function method(path: string, responseStream: boolean): MethodDefinition<Buffer, Buffer> {
  const asIs = (bytes: Buffer): Buffer => bytes;
  const codec = {
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  return { path, requestStream: false, responseStream, ...codec };
}
