// The HTTP filters that a request meets.

import type { Json, Message, Value } from "./origin.js";

export interface Filter extends Message {
  /** "" where the file gives none. */
  readonly name: string;
  /** Type URL of its configuration; undefined for filters that come by ECDS, or have none. */
  readonly type: string | undefined;
  readonly disabled: boolean;
  readonly config: Value<Json> | undefined;
}

/** A list of HTTP filters: one of a connection manager, of an upgrade, a router's upstream one, or a cluster's. */
export interface FilterChain extends Message {
  readonly filters: readonly Filter[];
}

/** A filter's configuration for a route, virtual host or route configuration. */
export interface PerFilterConfig extends Message {
  /** The filter's name. */
  readonly name: string;
  readonly json: Json;
}

/** What a level of the route table does to the headers of requests and responses. */
export interface HeaderChanges {
  readonly requestAdd: readonly HeaderValue[];
  readonly requestRemove: readonly Value<string>[];
  readonly responseAdd: readonly HeaderValue[];
  readonly responseRemove: readonly Value<string>[];
}

export interface HeaderValue extends Message {
  readonly key: string;
  readonly value: string;
  /** As the file has it; "" for the default, APPEND_IF_EXISTS_OR_ADD. */
  readonly appendAction: string;
}
