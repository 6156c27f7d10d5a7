// Instructions per request of Envoy's worker, counted by callgrind between two points of one run: neither the start nor the
// compilation of the first requests is in the figure, and it repeats within 0.2 % where times do not.

import { execa } from "execa";
import { CountedEnvoy, START_TIMEOUT_MS } from "./counted-envoy.js";
import { Connection } from "./requests.js";

/** What is sent, one request after another on one connection. */
export interface Traffic {
  path: string;
  /** Requests before counting starts: V8 has compiled the module for good and caches are filled by then. */
  warmUp: number;
  requests: number;
  /** A statistic that must have counted something before requests are counted. */
  awaits?: string;
}

/** Requests between the start of the instrumentation and the start of the count. */
const SETTLE = 20;

/** Whether callgrind is installed. */
export async function hasValgrind(): Promise<boolean> {
  return !(await execa("valgrind", ["--version"], { reject: false })).failed;
}

/**
 * Starts `binary` under callgrind and returns the instructions per request. Every response must be a 200.
 * @param onPhase is told what happens now.
 */
export async function instructionsPerRequest(
  binary: string,
  bootstrap: string,
  { path, warmUp, requests, awaits }: Traffic,
  onPhase: (phase: string) => void = () => undefined,
): Promise<number> {
  onPhase("starting Envoy");
  const envoy = await CountedEnvoy.start(binary, bootstrap);
  const connection = new Connection({ port: envoy.port("bench"), path, status: 200 });
  try {
    onPhase("warming up");
    if (awaits !== undefined) await envoy.admin.waitForStat(awaits, (value) => value > 0, START_TIMEOUT_MS);
    await connection.send(warmUp);
    const action = async () => {
      onPhase("counting");
      await connection.send(requests);
    };
    const { worker } = await envoy.count(action, () => connection.send(SETTLE));
    return worker / requests;
  } finally {
    connection.close();
    await envoy.stop();
  }
}
