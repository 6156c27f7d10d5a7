// The configurations of the peers: the same work as the module's, done by something else.

import { readFileSync } from "node:fs";
import { parseDocument, visit, type Document, type YAMLMap } from "yaml";
import { bootstrap, specifier, vmConfig, type Json, type Parts, type Upstreams } from "./scenarios.js";

const GOOGLE = "type.googleapis.com/envoy.";

/** The scripts in peers/, for a chain with weights and for one without. */
export type LuaScript = "pick" | "single";

/** A Lua filter that picks as the module does, and a matcher that reads the pick from a request header. */
export function luaPeer(script: LuaScript, upstreams: Upstreams, parts: Parts = {}): string {
  const pick = { matcher: headerTree("x-slot-1", { a2: to("a2") }, to("a1")) };
  return filterAndTree(luaFilter(script), script === "pick" ? pick : to("a1"), upstreams, parts);
}

/** The Rust peer where every group has a single cluster: it takes the client's attempt count away. */
export function rustPeerSingle(wasm: string, upstreams: Upstreams, parts: Parts = {}): string {
  const configuration = rustConfiguration(100, "");
  const config = { name: "peer", configuration, vm_config: vmConfig(wasm) };
  const filter = { name: "peer", typed_config: { "@type": `${GOOGLE}extensions.filters.http.wasm.v3.Wasm`, config } };
  return filterAndTree(filter, to("a1"), upstreams, parts);
}

/** A chain whose first attempt takes `first`. */
function filterAndTree(filter: Json, first: Json, upstreams: Upstreams, parts: Parts): string {
  const action = specifier("matcher", {
    "@type": `${GOOGLE}extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier`,
    cluster_matcher: headerTree("x-envoy-attempt-count", { "1": to("b"), "2": to("c") }, first),
  });
  return bootstrap(action, upstreams, { ...parts, filters: [filter], attemptCount: true });
}

function luaFilter(script: LuaScript): Json {
  const inline_string = readFileSync(new URL(`peers/${script}.lua`, import.meta.url), "utf8");
  const type = `${GOOGLE}extensions.filters.http.lua.v3.Lua`;
  return { name: "lua", typed_config: { "@type": type, default_source_code: { inline_string } } };
}

function rustConfiguration(weight: number, route: string): Json {
  return { "@type": "type.googleapis.com/google.protobuf.StringValue", value: `${weight} ${route}` };
}

function headerTree(header_name: string, map: Json, on_no_match: Json): Json {
  const typed_config = { "@type": `${GOOGLE}type.matcher.v3.HttpRequestHeaderMatchInput`, header_name };
  return { matcher_tree: { input: { name: header_name, typed_config }, exact_match_map: { map } }, on_no_match };
}

function to(cluster: string): Json {
  const type = `${GOOGLE}extensions.router.cluster_specifiers.matcher.v3.ClusterAction`;
  return { action: { name: cluster, typed_config: { "@type": type, cluster } } };
}

/** A lowered configuration with the module of the Rust peer in the place of ours; `weight` is that of a1, out of 100. */
export function rustPeer(loweredText: string, wasm: string, weight: number): string {
  const document = parseDocument(loweredText);
  for (const plugin of plugins(document)) {
    const own = plugin.toJSON() as { vm_config: { configuration?: unknown } };
    // A filter for one chain needs no route's name; the digest of its settings is then the machine's configuration.
    const route = own.vm_config.configuration === undefined ? routeName(loweredText) : "";
    plugin.deleteIn(["vm_config", "configuration"]);
    plugin.setIn(["vm_config", "code", "local", "filename"], wasm);
    plugin.set("configuration", rustConfiguration(weight, route));
  }
  return document.toString();
}

/** The lowered configuration without the module: what the slots cost by themselves. */
export function withoutModule(loweredText: string): string {
  return loweredText.replaceAll("disabled: false", "disabled: true");
}

function routeName(loweredText: string): string {
  const name = /name: "?([^"\s]*@ar-[0-9a-f]{16})"?/.exec(loweredText)?.[1];
  if (name === undefined) throw new Error("the lowered configuration has a route with settings");
  return name;
}

function plugins(document: Document): YAMLMap[] {
  const found: YAMLMap[] = [];
  visit(document, {
    Map: (_, map) => {
      if (map.get("root_id") === "downstream") found.push(map);
    },
  });
  if (found.length === 0) throw new Error("the lowered configuration has the module in it");
  return found;
}
