// Runs the tests of a file without Envoy: through `explain`.

import { explain } from "../explain/explain.js";
import type { Explanation } from "../explain/explanation.js";
import type { ModulePicks } from "../explain/module-picks.js";
import { byCluster } from "../explain/request.js";
import { PlaceError } from "../explain/resolve.js";
import type { Program } from "../model/index.js";
import { differences, type Observed } from "./compare.js";
import type { RouteTest } from "./file.js";

export interface TestResult {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Sentences about what differs; none: the test passed. */
  readonly failures: readonly string[];
  /** Why it was not run; undefined: it was. */
  readonly skipped?: string;
}

/** Attempts that no upstream sees. */
const UNSEEN: readonly (number | string | null)[] = ["no host", "no cluster", "overflow", "refused"];

export function runTest(file: string, test: RouteTest, program: Program, module: ModulePicks): TestResult {
  const place = { file, line: test.line, name: test.name };
  try {
    const explanation = explain(program, { ...questionOf(test), listener: test.listener }, module);
    return { ...place, failures: differences(test.expect, observed(explanation)) };
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    return { ...place, failures: [error.message] };
  }
}

function questionOf({ request, answers, down }: RouteTest): Parameters<typeof explain>[1] {
  return {
    answers: byCluster(answers),
    down,
    request: {
      method: request.method,
      path: request.path,
      authority: request.host,
      scheme: "http",
      headers: request.headers,
      metadata: request.metadata,
      random: request.random,
      client: "127.0.0.1",
    },
  };
}

function observed({ virtual_host, route, attempts, result, paths }: Explanation): Observed {
  const seen = attempts.filter(({ answer }) => !UNSEEN.includes(answer));
  const hangs = paths.length > 1;
  const first = attempts[0]?.candidates ?? [];
  return {
    virtualHost: virtual_host,
    route,
    attempts: hangs && seen.some(({ cluster }) => cluster === null) ? null : seen.map(({ cluster }) => cluster ?? ""),
    status: result.status,
    firstAttempt: Object.fromEntries(first.map(({ cluster, probability }) => [cluster, probability])),
  };
}
