import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Progress } from "../../bench/progress.js";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => vi.useRealTimers());

test("a terminal shows the row, what happens and for how long, on one line that goes at the end", () => {
  const { text, out } = stream({ isTTY: true, columns: 60 });
  const progress = new Progress(out);
  progress.start(2, 7, "plain cluster");
  progress.phase("warming up");
  vi.advanceTimersByTime(3_000);
  expect(text()).toMatch(/\r\S \[2\/7\] plain cluster · warming up · 3 s\x1b\[K$/);
  progress.end();
  expect(text().endsWith("\r\x1b[K")).toBe(true);
  const shown = text();
  vi.advanceTimersByTime(1_000);
  expect(text()).toBe(shown);
});

test("a narrow terminal gets no second line", () => {
  const { text, out } = stream({ isTTY: true, columns: 20 });
  const progress = new Progress(out);
  progress.start(1, 1, "a row with a long name");
  vi.advanceTimersByTime(200);
  progress.end();
  const lines = text().split("\r");
  expect(Math.max(...lines.map((line) => line.replace("\x1b[K", "").length))).toBeLessThan(20);
});

test("a file gets a line for each row", () => {
  const { text, out } = stream({});
  const progress = new Progress(out);
  progress.start(1, 2, "plain cluster");
  progress.phase("counting");
  vi.advanceTimersByTime(1_000);
  progress.end();
  expect(text()).toBe("[1/2] plain cluster\n");
});

function stream(terminal: { isTTY?: true; columns?: number }) {
  const written: string[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    written.push(chunk.toString());
    done();
  };
  const out = Object.assign(new Writable({ write }), terminal) as unknown as NodeJS.WriteStream;
  return { text: () => written.join(""), out };
}
