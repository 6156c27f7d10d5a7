// Conditions on what is known of the stream beside headers and metadata, on a real Envoy.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { Config } from "../support/case.js";
import { run, tag } from "./specifier-runs.js";

const { versions } = await envoyVersions();

/** Keeps a header of the request as filter state. */
const keep: Config = {
  name: "envoy.filters.http.set_filter_state",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.set_filter_state.v3.Config",
    on_request_headers: [
      {
        object_key: "app.tier",
        factory_key: "envoy.string",
        format_string: { text_format_source: { inline_string: "%REQ(x-tier)%" } },
        skip_if_empty: true,
      },
    ],
  },
};

describe.each(versions)("Envoy %s: conditions", (version) => {
  test("look at the protocol of the request", async () => {
    const route = [
      tag("1.1", { when: { protocol: { exact: "HTTP/1.1" } } }),
      tag("2", { when: { protocol: { exact: "HTTP/2" } } }),
    ];
    const [only] = await run(version, { route }, [{ path: "/api" }]);
    expect(only?.headers["x-ran"]).toBe("1.1");
  });

  test("look at filter state that an earlier filter wrote", async () => {
    const gold = { filter_state: [{ key: "app.tier", string_match: { exact: "gold,plus" } }] };
    const route = [tag("gold", { when: gold }), tag("other", { when: { not: gold } })];
    const requests = ["gold,plus", "gold", ""].map((tier) => ({
      path: "/api",
      headers: tier === "" ? {} : { "x-tier": tier },
    }));
    const results = await run(version, { route }, requests, { http_filters: [keep] });
    expect(results.map(({ headers }) => headers["x-ran"])).toEqual(["gold", "other", "other"]);
  });
});
