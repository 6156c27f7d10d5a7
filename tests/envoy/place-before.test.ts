// Filters behind the module (`--place-before`) run with the copy of a route that the module chose. What they keep for a
// route, like the tokens of a rate limit, must be kept once.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { Config } from "../support/case.js";
import { drop, forHeader, run, specifier } from "./specifier-runs.js";

const { versions } = await envoyVersions();
const FILTER = "envoy.filters.http.local_ratelimit";
const TYPE = "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";
const limit: Config = { name: FILTER, typed_config: { "@type": TYPE, stat_prefix: "limit" } };
const all = { default_value: { numerator: 100, denominator: "HUNDRED" } };
const tokens = {
  typed_per_filter_config: {
    [FILTER]: {
      "@type": TYPE,
      stat_prefix: "limit",
      token_bucket: { max_tokens: 4, tokens_per_fill: 4, fill_interval: "3600s" },
      filter_enabled: all,
      filter_enforced: all,
    },
  },
};
const web = { match: { prefix: "/" }, name: "r", route: { cluster: "api" } };
const to = (cluster: string): Config =>
  specifier("RouteOverride", { cluster, when: forHeader(`x-${cluster}`) }, cluster);
const retries = specifier("RouteOverride", { retry_policy: { num_retries: 1 }, when: forHeader("x-retry") });
const ways = [{}, { "x-other": "1" }, { "x-retry": "1" }, { "x-other": "1", "x-retry": "1" }];
const requests = ways.map((headers) => ({ headers, repeat: 4 }));

describe.each(versions)("Envoy %s: a rate limit behind the module", (version) => {
  test("of a virtual host is one for all copies of a route", async () => {
    const levels = { host: [to("other"), retries], routes: [web], hostFields: tokens };
    const done = await run(version, levels, requests, { http_filters: [limit] }, { placeBefore: FILTER });
    expect(done.filter(({ status }) => status === 200)).toHaveLength(4);
  });
  test("of a route would be one for each, and is refused", async () => {
    const levels = { host: [to("other"), retries], routes: [{ ...web, ...tokens }] };
    const done = run(version, levels, requests, { http_filters: [limit] }, { placeBefore: FILTER });
    await expect(done).rejects.toThrow("found one, and each copy would have its own state: write it into");
  });

  test("of a route without copies is the route's", async () => {
    const levels = { host: [drop({ when: forHeader("x-drop") })], routes: [{ ...web, ...tokens }] };
    const done = await run(version, levels, requests, { http_filters: [limit] }, { placeBefore: FILTER });
    expect(done.filter(({ status }) => status === 200)).toHaveLength(4);
  });
});
