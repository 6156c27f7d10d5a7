import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { namespaceMetadata, type RequestSpec } from "../../cli/host/index.js";

const TYPE = "type.googleapis.com/attempt_router.v1.";

/** A configured specifier of a shipped type. */
export function specifier(type: string, fields: JsonObject = {}, name = "s"): JsonObject {
  return { name, typed_config: { "@type": TYPE + type, ...fields } };
}

/** The three lists of specifiers; the levels run in this order. */
export interface Levels {
  route_configuration?: JsonObject[];
  virtual_host?: JsonObject[];
  route?: JsonObject[];
}

/** The chosen template of a RouteTemplate as `lower` writes it. */
export function template(pin: string, route: JsonObject = {}, fields: JsonObject = {}): JsonObject {
  return specifier("RouteTemplate", {
    template_id: "t",
    templates: [{ template_id: "t", route: { name: "t", pin, ...route } }],
    ...fields,
  });
}

/** A request on a route (or, with `resolved: null`, in a virtual host without a route) with these specifiers. */
export function specifiedRequest(
  levels: Levels,
  resolved: JsonObject | null = { name: "r", pin: "given" },
  rest: JsonObject = {},
): RequestSpec {
  const lists = Object.fromEntries(Object.entries(levels).map(([level, list]) => [level, list as JsonValue]));
  const settings = {
    ...rest,
    route_specifiers: { ...lists, ...(resolved === null ? {} : { resolved }), slots: 3 },
  };
  const id = createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 32);
  const metadata = namespaceMetadata("attempt_router", settings);
  const proto = { "x-forwarded-proto": "http" };
  const host = { virtualHostName: `vh@ar-${id}`, virtualHostMetadata: metadata, headers: proto };
  return resolved === null
    ? { ...host, route: false }
    : { ...host, virtualHostName: "vh", routeName: `r@ar-${id}`, routeMetadata: metadata, clusterName: "own" };
}
