import { describe, expect, it } from "vitest";
import { parseLatencies, parseSummary } from "../../bench/load/parse.js";

const OUTPUT = `starting benchmark...
progress: 100% done

finished in 755.15ms, 79454.62 req/s, 8.94MB/s
requests: 60000 total, 60000 started, 60000 done, 59990 succeeded, 10 failed, 0 errored, 0 timeout
status codes: 59990 2xx, 0 3xx, 0 4xx, 10 5xx
traffic: 6.75MB (7080000) total, 4.63MB (4860000) headers (space savings 0.00%), 117.19KB (120000) data
`;

describe("h2load's output", () => {
  it("gives seconds and statuses", () => {
    expect(parseSummary(OUTPUT)).toEqual({
      answered: 60_000,
      seconds: expect.closeTo(0.75515) as number,
      statuses: { 2: 59_990, 3: 0, 4: 0, 5: 10 },
      unanswered: 0,
    });
  });

  it("tells requests without an answer from answers of 500", () => {
    const cut = OUTPUT.replace("0 errored", "8 errored").replace("59990 2xx", "59982 2xx");
    expect(parseSummary(cut)).toMatchObject({ answered: 59_992, unanswered: 8 });
  });

  it.each([
    ["0.5s", 0.5],
    ["250us", 0.00025],
    ["2m", 120],
  ])("reads %s", (text, seconds) => {
    expect(parseSummary(OUTPUT.replace("755.15ms", text)).seconds).toBeCloseTo(seconds, 9);
  });

  it("is refused where the run did not come to its end", () => {
    expect(() => parseSummary("starting benchmark...\n")).toThrow("starting benchmark");
  });
});

describe("h2load's log", () => {
  it("gives latencies", () => {
    expect(parseLatencies("1796049984542470\t200\t409\n1796049984542463\t503\t446\n")).toEqual([409, 446]);
  });

  it.each(["1796049984542470\t-1\t409\n", "1796049984542470\t200\n"])("is refused with %j", (line) => {
    expect(() => parseLatencies(line)).toThrow("without an answer");
  });
});
