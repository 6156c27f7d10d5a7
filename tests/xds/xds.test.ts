import * as http from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";
import { waitFor } from "../../tools/wait.js";
import { ControlPlane } from "./control-plane.js";
import { Providers } from "./providers.js";
import { bootstrap, chainOf, PROVIDERS, snapshot } from "./resources.js";

const UPDATES = 50;
const WORKERS = 4;
const { versions } = await envoyVersions();

let plane: ControlPlane;
// Without its build cache, Go compiles Envoy's whole API first.
beforeAll(async () => {
  plane = await ControlPlane.start();
}, 600_000);
afterAll(() => plane.stop());

interface Served {
  status: number;
  /** The version of the route that the request took. */
  version: number;
  hops: string[];
}

/** One listener under test, whose requests are told apart by an id. */
class Client {
  private requests = 0;
  private readonly agent = new http.Agent({ keepAlive: true });

  constructor(
    private readonly port: number,
    private readonly providers: Providers,
  ) {}

  nextId(): string {
    return String(this.requests++);
  }

  async get(path: string, id = this.nextId()): Promise<Served> {
    const headers = { "x-id": id };
    const call = http.get({ host: "127.0.0.1", port: this.port, path, headers, agent: this.agent });
    const [response] = (await once(call, "response")) as [http.IncomingMessage];
    await text(response);
    const version = Number(response.headers["x-chain"] ?? -1);
    return { status: response.statusCode ?? 0, version, hops: this.providers.hops.get(id) ?? [] };
  }

  close(): void {
    this.agent.destroy();
  }
}

describe.each(versions)("Envoy %s under a go-control-plane server", (version) => {
  let envoy: EnvoyProcess;
  let providers: Providers;
  let client: Client;

  beforeAll(async () => {
    providers = await Providers.start(PROVIDERS);
    plane.serve(snapshot(0, providers.ports));
    envoy = await EnvoyProcess.start(version, bootstrap(plane.port), ["--concurrency", "2"]);
    await envoy.admin.waitForStat("listener_manager.workers_started", (started) => started === 1);
    client = new Client(envoy.port("ingress"), providers);
  });

  afterAll(async () => {
    client.close();
    await envoy.stop();
    providers.stop();
  });

  test(`${UPDATES} route updates under load: no request fails, each keeps the chain it started with`, async () => {
    let isOver = false;
    const load = Array.from({ length: WORKERS }, async () => {
      const served: Served[] = [];
      while (!isOver) served.push(await client.get("/"));
      return served;
    });
    const held: Served[] = [];
    try {
      for (let next = 1; next <= UPDATES; next++) held.push(await updateAround(next));
    } finally {
      isOver = true;
    }
    const served = (await Promise.all(load)).flat();
    expect(held.map((request) => request.version)).toEqual(held.map((_, index) => index));
    for (const request of [...served, ...held]) expectChain(request);
    expect(new Set(served.map((request) => request.version)).size).toBeGreaterThan(UPDATES / 2);
    // The second cluster of a group is taken by the module only.
    const firsts = new Set([...served, ...held].map(({ hops }) => hops[0]));
    expect(firsts).toEqual(new Set(PROVIDERS.filter((name) => name.endsWith("down"))));
    expect(plane.refusals).toEqual([]);
    expect(await envoy.admin.stat("listener_manager.listener_modified")).toBe(0);
    expect(await envoy.admin.stat("http.ingress.rds.routes.config_reload")).toBe(UPDATES + 1);
    console.log(`Envoy ${version}: ${served.length} requests under ${UPDATES} updates, ${held.length} held over one`);
  }, 180_000);

  /** Sends version `next` while a request of the version before waits at its first provider; that request's outcome. */
  async function updateAround(next: number): Promise<Served> {
    const id = client.nextId();
    const request = client.get("/held", id);
    await waitFor(`request ${id} to reach a provider`, () => providers.isHeld(id));
    plane.serve(snapshot(next, providers.ports));
    await waitFor(`version ${next} to serve`, async () => (await oldestOf(WORKERS)) === next);
    providers.letGo(id);
    return request;
  }

  /** The oldest version that some requests at once get: each worker of Envoy takes an update by itself. */
  async function oldestOf(count: number): Promise<number> {
    const served = await Promise.all(Array.from({ length: count }, () => client.get("/")));
    served.forEach(expectChain);
    return Math.min(...served.map((request) => request.version));
  }

  function expectChain({ status, version: used, hops }: Served): void {
    const { first, then } = chainOf(used);
    expect([status, hops.length, hops[1]]).toEqual([200, 2, then]);
    expect(first).toContain(hops[0]);
  }
});
