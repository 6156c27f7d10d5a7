import { expect, it } from "vitest";
import { lower } from "../../cli/lower.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { waitFor } from "../../tools/wait.js";
import { nativeBootstrap } from "../support/bootstrap.js";
import { caseNamed } from "../support/case.js";
import { Serving } from "../support/serving.js";

const CASE = caseNamed("pg-internal-redirect-cluster");

const STDOUT_LOG = {
  name: "stdout",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
    log_format: { text_format_source: { inline_string: "stream %RESPONSE_CODE% %UPSTREAM_CLUSTER%\n" } },
  },
};

// The route for /target: c is the pick of attempt 1, e the only cluster of group 2.
it.each([
  { form: "native", version: versions.oracle, redirected: "stream 302 c" },
  ...versions.versions.map((version) => ({ form: "lowered", version, redirected: "stream 302 e" })),
])("the redirected stream's log line names $redirected, $form $version", async ({ form, version, redirected }) => {
  const test = { ...CASE, hcm: { access_log: [STDOUT_LOG] } };
  const serving = await Serving.start(version, CASE.upstreams, (upstreams) => {
    const native = nativeBootstrap(test, upstreams);
    return form === "native" ? native : lower(native, { file: "redirect.yaml" }).text;
  });
  try {
    expect((await serving.get("/start", { host: "case.test", "x-pick": "1" })).response.status).toBe(200);
    await waitFor("two log lines", () => lines(serving).length === 2);
    expect(lines(serving)).toEqual([redirected, "stream 200 f"]);
  } finally {
    await serving.stop();
  }
});

function lines(serving: Serving): string[] {
  return serving.envoy.log.split("\n").filter((line) => line.startsWith("stream "));
}
