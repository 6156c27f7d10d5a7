import { EnvoyProcess } from "../../tools/envoy/process.js";
import { send, type ClientRequest, type ClientResponse } from "./client.js";
import { REQUEST_ID_HEADER, Upstreams, type UpstreamSpec } from "./upstreams.js";

/** A response together with the upstreams that saw the request, in order. */
export interface Served {
  response: ClientResponse;
  hops: string[];
}

/** An Envoy in front of upstreams, for tests that need more than a case file says. */
export class Serving {
  #requests = 0;

  private constructor(
    readonly envoy: EnvoyProcess,
    readonly upstreams: Upstreams,
  ) {}

  /** Starts the upstreams, then Envoy `version` with the bootstrap made for them; `args` go to its command line. */
  static async start(
    version: string,
    specs: Record<string, UpstreamSpec>,
    bootstrap: (upstreams: Upstreams) => string,
    args: string[] = [],
  ): Promise<Serving> {
    const upstreams = await Upstreams.start(specs);
    try {
      return new Serving(await EnvoyProcess.start(version, bootstrap(upstreams), args), upstreams);
    } catch (error) {
      await upstreams.close();
      throw error;
    }
  }

  /** Sends a GET through the listener `ingress`. */
  async get(path: string, headers: ClientRequest["headers"] = {}): Promise<Served> {
    const id = String(this.#requests++);
    const port = this.envoy.port("ingress");
    const all = { host: "test", [REQUEST_ID_HEADER]: id, ...headers };
    const response = await send({ port, protocol: "http1", method: "GET", path, headers: all, body: "" });
    return { response, hops: this.upstreams.hopsOf(id).map((hop) => hop.upstream) };
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.upstreams.close();
  }
}
