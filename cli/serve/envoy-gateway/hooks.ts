// The hooks of Envoy Gateway's extension service, on the bytes of their messages.

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ConfigObject, Lowerer } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";
import { Codec } from "./codec.js";
import { at, items, resourceOf } from "./gateway-metadata.js";
import { messageOf } from "./messages.js";
import { withWish } from "./native-route.js";
import { text } from "./scalars.js";
import { translate, type Resources, type Translation } from "./translate.js";
import { isObject, parseResource, type Wish } from "./wish.js";

const PACKAGE = "envoygateway.extension";

/** What came of a hook: its answer, and what is worth to know of it. */
export interface RouteOutcome {
  response: Uint8Array;
  /** Resources that lost against another one of the same route. */
  passedOver: Wish[];
}

/** Keeps the wish of a route in the metadata of that route. */
export function postRouteModify(request: Uint8Array): RouteOutcome {
  const codec = new Codec();
  const message = codec.decode(messageOf(`${PACKAGE}.PostRouteModifyRequest`), request);
  const route = at(message, "route");
  const [wish, ...passedOver] = isObject(route) ? wishesFor(route, at(message, "post_route_context") ?? {}) : [];
  const modified = isObject(route) && wish !== undefined ? withWish(route, wish) : (route ?? null);
  const response = codec.encode(messageOf(`${PACKAGE}.PostRouteModifyResponse`), { route: modified });
  return { response, passedOver };
}

/** The nearest first: a filter of the route, then a policy for the rule, then a policy for the whole route. */
function wishesFor(route: ConfigObject, context: Json): Wish[] {
  const rule = resourceOf(route)?.sectionName;
  const policies = resourcesIn(at(context, "extension_policies"));
  const isForRule = ({ spec }: Wish): boolean =>
    rule !== undefined && items(spec["targetRefs"]).some((target) => at(target, "sectionName") === rule);
  const others = policies.filter((policy) => !isForRule(policy));
  return [...resourcesIn(at(context, "extension_resources")), ...policies.filter(isForRule), ...others];
}

function resourcesIn(list: Json | undefined): Wish[] {
  return items(list).map((one) =>
    parseResource(Buffer.from(text(at(one, "unstructured_bytes") ?? ""), "base64").toString("utf8")),
  );
}

export interface TranslateOutcome extends Omit<Translation, "resources"> {
  response: Uint8Array;
  /** Policies that are for a Gateway or a listener, which have no priority groups. */
  misplaced: Wish[];
}

/** Carries the wishes of all routes out. */
export function postTranslateModify(request: Uint8Array, lowerer: Lowerer | undefined): TranslateOutcome {
  const codec = new Codec();
  const message = codec.decode(messageOf(`${PACKAGE}.PostTranslateModifyRequest`), request) as ConfigObject;
  const list = (field: string): ConfigObject[] => items(message[field]).filter(isObject);
  const given: Resources = { clusters: list("clusters"), listeners: list("listeners"), routes: list("routes") };
  const { resources, ...outcome } = translate(given, lowerer);
  const answer = { ...resources, secrets: list("secrets") } as unknown as ConfigObject;
  const response = codec.encode(messageOf(`${PACKAGE}.PostTranslateModifyResponse`), answer);
  const misplaced = resourcesIn(at(message, "post_translate_context", "extension_resources"));
  return { ...outcome, response, misplaced };
}

/** An answer that changes nothing, for when a request cannot be read: its resources have other field numbers there. */
export function untouched(request: Uint8Array, renumbered: ReadonlyMap<number, number>): Uint8Array {
  const reader = new BinaryReader(request);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const bytes = reader.skip(wireType, number);
    const to = renumbered.get(number);
    if (to !== undefined) writer.tag(to, wireType).raw(bytes);
  }
  return writer.finish();
}

export const ROUTE_FIELDS = new Map([[1, 1]]);
export const TRANSLATE_FIELDS = new Map([2, 3, 4, 5].map((number) => [number, number - 1] as const));
