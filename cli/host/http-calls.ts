import type { Bytes } from "./bytes.js";
import type { HeaderMap, HeadersInput } from "./header-map.js";

/** An HTTP call of the module, as it was made. */
export interface HttpCallRequest {
  cluster: string;
  headers: HeaderMap;
  body: Uint8Array;
  trailers: HeaderMap;
  /** 0 = no timeout */
  timeoutMs: number;
}

/**
 * What becomes of a call. `unknown-cluster` and `no-hosts` fail inline (BadArgument, InternalFailure) and call nobody;
 * `reset` calls back without headers; `silence` never calls back.
 */
export type HttpCallOutcome =
  | "unknown-cluster"
  | "no-hosts"
  | "reset"
  | "silence"
  | { status: number; headers?: HeadersInput; body?: Bytes };

export type HttpCallResponder = (request: HttpCallRequest) => HttpCallOutcome;
