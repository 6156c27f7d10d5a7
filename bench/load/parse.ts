// What h2load writes.

/** The end of a run's output. */
export interface Summary {
  /** Requests that got an answer, whatever its status. */
  answered: number;
  seconds: number;
  /** Answers by the first digit of their status: `{"2": 1000}`. */
  statuses: Readonly<Record<string, number>>;
  /** Requests without an answer: connection errors, time-outs, resets, and those that were never sent. */
  unanswered: number;
}

const UNITS: Readonly<Record<string, number>> = { us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** @throws Error where `text` is not the output of a run that came to its end. */
export function parseSummary(text: string): Summary {
  const finished = /^finished in ([\d.]+)(us|ms|s|m|h), /m.exec(text);
  const requests = /^requests: (\d+) total, /m.exec(text);
  const codes = /^status codes: (.*)$/m.exec(text)?.[1];
  if (finished === null || requests === null || codes === undefined) throw new Error(`h2load wrote:\n${text}`);
  const counts = [...codes.matchAll(/(\d+) (\d)xx/g)].map(([, n, digit = ""]) => [digit, Number(n)] as const);
  const statuses: Record<string, number> = Object.fromEntries(counts);
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return {
    answered,
    seconds: Number(finished[1]) * (UNITS[finished[2] ?? ""] ?? NaN),
    statuses,
    unanswered: Number(requests[1]) - answered,
  };
}

/** The latencies in microseconds, in no order, of a `--log-file`: lines `start TAB status TAB microseconds`. */
export function parseLatencies(text: string): number[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [, status, microseconds] = line.split("\t").map(Number);
    if (status === undefined || status < 0 || microseconds === undefined || Number.isNaN(microseconds))
      throw new Error(`a request without an answer in h2load's log: ${line}`);
    return microseconds;
  });
}
