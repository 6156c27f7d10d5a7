import { waitFor } from "../../tools/wait.js";
import { send } from "../support/client.js";
import { REQUEST_ID_HEADER, type Upstreams } from "../support/upstreams.js";
import { PORT } from "./resources.js";

const TRANSLATION_MS = 40_000;
let requests = 0;

/** The status, and the upstreams that saw the request, in order. */
export type Outcome = [status: number | null, ...upstreams: string[]];

/** Sends requests through the Gateway's listener. */
export class GatewayClient {
  constructor(private readonly upstreams: Upstreams) {}

  async get(path: string): Promise<Outcome> {
    const id = String(requests++);
    const headers = { host: "test", [REQUEST_ID_HEADER]: id };
    const { status } = await send({ port: PORT, protocol: "http1", method: "GET", path, headers, body: "" });
    return [status, ...this.upstreams.hopsOf(id).map((hop) => hop.upstream)];
  }

  /** All outcomes of many requests, each once. */
  async outcomes(path: string): Promise<Set<string>> {
    const found = new Set<string>();
    for (let i = 0; i < REQUESTS; i++) found.add((await this.get(path)).join(" "));
    return found;
  }

  /** Waits until a request has this outcome. */
  async until(path: string, ...outcome: Outcome): Promise<void> {
    const wanted = outcome.join(" ");
    let found = "";
    const isReached = async (): Promise<boolean> => (found = (await this.get(path)).join(" ")) === wanted;
    await waitFor(`${path} to answer ${wanted}`, isReached, TRANSLATION_MS).catch((error: unknown) => {
      throw new Error(`${path} answers ${found}`, { cause: error });
    });
  }
}

/** A pick by weight that is as likely as 20 % stays away from as many with a chance of 1 to 7,000. */
const REQUESTS = 40;
