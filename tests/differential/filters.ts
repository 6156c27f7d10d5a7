// Filters of a random configuration: before the router, and between the router and an upstream.

import type { Random } from "../fuzz/random.js";
import type { Config } from "../support/case.js";

const TYPE = "type.googleapis.com/envoy.extensions.filters.http";

/** The namespace whose metadata the generated priority groups take overrides from. */
export const OVERRIDE_NAMESPACE = "envoy.my_filter";

/** Up to three filters before the router; one writes override metadata by the header `x-override`. */
export function earlierFilters(random: Random): Config[] {
  const filters: Config[] = [];
  if (random.chance(0.2)) filters.push(cors());
  if (random.chance(0.5)) filters.push(overrideWriter());
  if (random.chance(0.25)) filters.push(lua("envoy.filters.http.lua.noop", "function envoy_on_request(h) end"));
  if (random.chance(0.2)) filters.push(headerMutation("x-filtered"));
  return filters;
}

/** Filters of an upstream's requests; the last one is the codec. Some write override metadata, or a header. */
export function upstreamFilters(random: Random, clusters: readonly string[]): Config[] {
  const codec = {
    name: "envoy.filters.http.upstream_codec",
    typed_config: { "@type": `${TYPE}.upstream_codec.v3.UpstreamCodec` },
  };
  return [headerMutation(`x-upstream-${random.pick(clusters)}`), codec];
}

function cors(): Config {
  return { name: "envoy.filters.http.cors", typed_config: { "@type": `${TYPE}.cors.v3.Cors` } };
}

function headerMutation(key: string): Config {
  return {
    name: "envoy.filters.http.header_mutation",
    typed_config: {
      "@type": `${TYPE}.header_mutation.v3.HeaderMutation`,
      mutations: { request_mutations: [{ append: { header: { key, value: "1" } } }] },
    },
  };
}

function lua(name: string, code: string): Config {
  return {
    name,
    typed_config: { "@type": `${TYPE}.lua.v3.Lua`, default_source_code: { inline_string: code } },
  };
}

// The route is resolved again after writing: without that native Envoy takes the override from the first retry on, see
// docs/differences.md.
function overrideWriter(): Config {
  return lua(
    "envoy.filters.http.lua",
    `local overrides = {
  one = {{name = "g1"}},
  two = {{name = "g2"}, {name = "g0"}},
  reversed = {{name = "g3"}, {name = "g2"}, {name = "g1"}, {name = "g0"}},
  own = {{name = "x", clusters = {{cluster_name = "d", weight = 1}}}, {name = "g1"}},
  unknown = {{name = "g1"}, {name = "nowhere"}, {name = "g0"}},
  bad = {{name = "g1", clusters = {{cluster_name = "a", weight = 0}}}, {name = "g1"}},
  mixed = {{name = "g1"}, "text", {name = 1}},
  empty = {},
}
function envoy_on_request(h)
  local override = overrides[h:headers():get("x-override") or ""]
  if override == nil then return end
  h:streamInfo():dynamicMetadata():set("${OVERRIDE_NAMESPACE}", "priority_groups", override)
  h:clearRouteCache()
end
`,
  );
}
