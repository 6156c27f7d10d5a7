import { describe, expect, it } from "vitest";
import { flatness } from "../../bench/memory/flatness.js";
import { linearMemories, parseRollup } from "../../bench/memory/process-memory.js";

const MAPS = `2c314032000-2c3140a1000 rwxp 00000000 00:00 0 
41d340000000-41d37fe00000 ---p 00000000 00:00 0 
7f3f88930000-7f3f88950000 rw-p 00000000 00:00 0 
7f3f88950000-7f4188930000 ---p 00000000 00:00 0 
7f41ba940000-7f41baa40000 rw-p 00000000 00:00 0 
7f41baa40000-7f43ba940000 ---p 00000000 00:00 0 
7f43ba960000-7f43ca940000 ---p 00000000 00:00 0 
7f4624222000-7f4624378000 r-xp 00026000 fe:00 326269                     /usr/lib/x86_64-linux-gnu/libc.so.6
`;

describe("the memory of a process", () => {
  it("has linear memories where 8 GiB are reserved for each", () => {
    expect(linearMemories(MAPS)).toEqual([2 * 65_536, 16 * 65_536]);
  });

  it("has none without such reservations", () => {
    expect(linearMemories("2c314032000-2c3140a1000 rwxp 00000000 00:00 0\n")).toEqual([]);
  });

  it("is what the kernel sums up", () => {
    const text =
      "5598faa7b000-7ffd1 ---p 00000000 00:00 0    [rollup]\nRss:               65448 kB\nAnonymous:         14208 kB\n";
    expect(parseRollup(text)).toEqual({ rss: 65_448 * 1024, own: 14_208 * 1024 });
    expect(() => parseRollup("Rss:               65448 kB\n")).toThrow("no Anonymous");
  });
});

describe("flatness", () => {
  const series = (value: (i: number) => number) => Array.from({ length: 100 }, (_, i) => value(i));
  // Between -1 and 1, another each time.
  const noise = (i: number) => ((i * 7919) % 201) / 100 - 1;

  it("compares the first tenth with the last", () => {
    const { first, last } = flatness(
      series((i) => (i < 10 ? 5 : i < 90 ? 50 : 7)),
      1,
    );
    expect([first, last]).toEqual([5, 7]);
  });

  it("accepts noise and a decline", () => {
    expect(
      flatness(
        series((i) => 1000 + 10 * noise(i)),
        0,
      ).flat,
    ).toBe(true);
    expect(
      flatness(
        series((i) => 1000 - i),
        0,
      ).flat,
    ).toBe(true);
    expect(
      flatness(
        series(() => 1000),
        0,
      ),
    ).toMatchObject({ tolerance: 0, flat: true });
  });

  it("sees steady growth through noise as large as a quarter of it", () => {
    expect(
      flatness(
        series((i) => 1000 + i + 25 * noise(i)),
        0,
      ).flat,
    ).toBe(false);
  });

  it("tolerates one unit of the series' resolution", () => {
    expect(
      flatness(
        series((i) => (i < 50 ? 0 : 4096)),
        4096,
      ).flat,
    ).toBe(true);
    expect(
      flatness(
        series((i) => 82 * i),
        4096,
      ),
    ).toMatchObject({ tolerance: 4096, flat: false });
  });

  it("tolerates what the other series grows by, and the noise of both", () => {
    const growing = series((i) => 1000 + 10 * i);
    expect(flatness(growing, 0).flat).toBe(false);
    expect(flatness(growing, 0, growing)).toMatchObject({ tolerance: expect.closeTo(900) as number, flat: true });
    const faster = series((i) => 1000 + 11 * i);
    expect(flatness(faster, 0, growing).flat).toBe(false);
    const unsteady = series((i) => 1000 + 10 * i + (i % 20 < 10 ? 30 : -30));
    expect(flatness(faster, 0, unsteady).flat).toBe(true);
    const shrinking = series((i) => 1000 - i);
    expect(flatness(growing, 0, shrinking).flat).toBe(false);
  });

  it("needs two samples in each tenth", () => {
    expect(() => flatness([1, 2, 3], 1)).toThrow("at least 20");
  });
});
