import type * as http2 from "node:http2";
import { describe, expect, it } from "vitest";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { holding, type HoldingSpec } from "../support/holding.js";
import type { Play } from "../support/providers.js";
import { grpcMessage } from "../support/upstreams.js";

const TYPE = { "content-type": "application/grpc" };
const MESSAGE = grpcMessage("hello");

/** Headers, then messages, then trailers with a status. */
const answers =
  (status: string, ...messages: Buffer[]): Play =>
  (answer) => {
    const response = answer as http2.Http2ServerResponse;
    response.writeHead(200, TYPE);
    // The types of Node.js lack it. Without it, an answer without messages is one of headers alone.
    (response as unknown as { flushHeaders: () => void }).flushHeaders();
    for (const message of messages) response.write(message);
    response.addTrailers({ "grpc-status": status, "grpc-message": "m" });
    response.end();
  };

/** A status in the headers alone. */
const refuses =
  (status: string): Play =>
  (answer) => {
    const response = answer as http2.Http2ServerResponse;
    response.writeHead(200, { ...TYPE, "grpc-status": status });
    response.end();
  };

const SERVES = answers("0", MESSAGE);

async function call(version: string, first: Play, second: Play, more: Partial<HoldingSpec> = {}) {
  const spec: HoldingSpec = { providers: { first, second }, protocol: "http2", hold: { empty: 502 }, ...more };
  let outcome;
  await holding(version, spec, async (proxy) => {
    outcome = await proxy.sendAndCount("/s/m", { method: "POST", protocol: "grpc", body: "x" });
  });
  return outcome as unknown as Awaited<ReturnType<Parameters<Parameters<typeof holding>[2]>[0]["sendAndCount"]>>;
}

describe.each(versions.versions)("held answers of gRPC on Envoy %s", (version) => {
  it.each(["unavailable", "5xx"])("an error in trailers, where no message came, is retried by %s", async (retry_on) => {
    const { result, hops } = await call(version, answers("14"), SERVES, { retries: { retry_on } });
    expect(hops).toEqual([1, 1]);
    expect(result).toMatchObject({ status: 200, trailers: { "grpc-status": "0" }, body: MESSAGE.toString("latin1") });
  });

  it("reaches the client as it was where no attempt is left", async () => {
    const { result, hops } = await call(version, answers("14"), answers("14"));
    expect(hops).toEqual([1, 1]);
    expect(result).toMatchObject({ status: 200, body: "", trailers: { "grpc-status": "14", "grpc-message": "m" } });
    expect(Object.keys(result.headers)).not.toContain("grpc-status");
    expect(Object.keys(result.headers)).not.toContain("x-attempt-router-held");
  });

  it("is no error any more once a message came", async () => {
    const { result, hops } = await call(version, answers("14", MESSAGE), SERVES);
    expect(hops).toEqual([1, 0]);
    expect(result).toMatchObject({ body: MESSAGE.toString("latin1"), trailers: { "grpc-status": "14" } });
  });

  it("is empty where the status is OK, and no message came", async () => {
    const { hops } = await call(version, answers("0"), SERVES);
    expect(hops).toEqual([1, 1]);
  });

  it("of headers alone is the router's matter", async () => {
    expect((await call(version, refuses("14"), SERVES)).hops).toEqual([1, 0]);
    const retries = { retry_on: "unavailable" };
    expect((await call(version, refuses("14"), SERVES, { retries })).hops).toEqual([1, 1]);
  });
});
