// Where each attempt of a request may go.

import type { Json, JsonMessage, Message, Value } from "./origin.js";

/** A cluster of a group, or of a weighted list. */
export interface WeightedCluster extends Message {
  readonly name: Value<string>;
  /** 0 where it is none that Envoy takes. */
  readonly weight: number;
}

export interface PriorityGroup extends Message {
  readonly name: Value<string> | undefined;
  readonly clusters: readonly WeightedCluster[];
}

/** One of the hash policies of a route; `kind` is the name of its field, such as `header`. */
export interface HashPolicy extends Message {
  readonly kind: string;
  readonly terminal: boolean;
  readonly json: Json;
}

/** What the random value of a request comes from. */
export type RandomSource =
  | { readonly kind: "internal" }
  | { readonly kind: "header"; readonly name: Value<string> }
  | { readonly kind: "hash"; readonly at: Value<boolean>; readonly policies: readonly HashPolicy[] };

/** Where the route says how its attempts go. */
export type AttemptsSource =
  | { readonly kind: "inline" }
  | { readonly kind: "named"; readonly plugin: Value<string> }
  /** The route's own cluster is a composite one. */
  | { readonly kind: "composite"; readonly cluster: Value<string> }
  /** Some of its weighted clusters are composite ones; `others` are settings beside names, weights and the random value. */
  | { readonly kind: "weighted"; readonly others: readonly Value<Json>[] };

/** A priority-group specifier, or a composite cluster, as the attempts of a route. */
export interface Attempts extends Message {
  readonly source: AttemptsSource;
  /** Attempt n takes group min(n, groups). None where the route's own cluster is a composite one. */
  readonly groups: readonly PriorityGroup[];
  readonly random: RandomSource;
  /** The namespace of the dynamic metadata by which a request may override the groups. */
  readonly override: Value<string> | undefined;
  /** Names of the composite clusters that attempts may reach, nested ones included. */
  readonly composites: readonly string[];
  /** The specifier in snake_case; empty for a composite cluster. */
  readonly json: JsonMessage;
}
