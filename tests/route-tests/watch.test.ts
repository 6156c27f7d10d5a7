import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileWatch } from "../../cli/file-watch.js";
import { readInput } from "../../cli/files.js";
import { processIo } from "../../cli/io.js";
import { bootstrapOf } from "../check/examples.js";
import { COMMAND } from "../cli/support.js";

let folder: string;
const at = (name: string): string => join(folder, name);

/** As editors do: the new file is whole when it takes the place. */
async function put(name: string, text: string): Promise<void> {
  await writeFile(at(".new"), text);
  await rename(at(".new"), at(name));
}

beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "attempt-router-watch-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

test("--watch runs again when the test file or its config changes, and Ctrl-C ends it with the last exit code", async () => {
  const expecting = (cluster: string): string =>
    `config: native.yaml\ntests: [{name: t, request: {path: /v1}, expect: {attempts: [${cluster}]}}]\n`;
  const configOf = (first: string): string => bootstrapOf({ groups: { one: [first], two: ["c"] } });
  await put("native.yaml", configOf("a"));
  await put("routes.test.yaml", expecting("a"));
  const child = execa("node", [...COMMAND, "test", "--watch", at("routes.test.yaml")], {
    reject: false,
    buffer: false,
  });
  const next = runs(child.stdout, child.stderr);
  expect(await next()).toMatch(/^ok 1/m);
  await put("native.yaml", configOf("b"));
  expect(await next()).toMatch(/^not ok 1/m);
  await put("routes.test.yaml", expecting("b"));
  expect(await next()).toMatch(/^ok 1/m);
  await put("routes.test.yaml", "tests: [");
  expect(await next()).toMatch(/routes\.test\.yaml:1:\d+: .*expected/);
  child.kill("SIGINT");
  expect((await child).exitCode).toBe(1);
});

/** Gives what each run writes, up to the line that says that files are watched. */
function runs(...streams: NodeJS.ReadableStream[]): () => Promise<string> {
  let text = "";
  let wake = (): void => undefined;
  const take = (data: Buffer): void => {
    text += data.toString();
    wake();
  };
  for (const stream of streams) stream.on("data", take);
  return async () => {
    for (;;) {
      const end = text.indexOf("watching:");
      const rest = text.indexOf("\n", end);
      // The report goes to the other stream.
      if (end >= 0 && rest >= 0 && /ok 1|expected/.test(text)) {
        const run = text;
        text = "";
        return run;
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
}

const watchOf = (): FileWatch => new FileWatch((path) => readInput(path, processIo()));

test("a file that comes, and the target of a link, wake it", async () => {
  const stop = new AbortController();
  const watch = watchOf();
  await expect(watch.read(at("missing.yaml"))).rejects.toThrow();
  const came = watch.changed(stop.signal);
  await put("missing.yaml", "a");
  expect(await came).toBe(true);
  watch.begin();
  await mkdir(at("elsewhere"));
  await put("elsewhere/target.yaml", "a");
  await symlink(at("elsewhere/target.yaml"), at("link.yaml"));
  await watch.read(at("link.yaml"));
  const changed = watch.changed(stop.signal);
  await put("elsewhere/target.yaml", "b");
  expect(await changed).toBe(true);
  watch.close();
});

test("a file beside it, and the same text again, do not", async () => {
  const stop = new AbortController();
  let reads = 0;
  const woken = { read: (): void => undefined };
  const watch = new FileWatch(async (path) => {
    const text = await readInput(path, processIo());
    reads += 1;
    woken.read();
    return text;
  });
  await put("a.yaml", "a");
  await watch.read(at("a.yaml"));
  const changed = watch.changed(stop.signal);
  for (const name of ["beside.yaml", "a.yaml"]) {
    const compared = new Promise<void>((resolve) => (woken.read = resolve));
    await put(name, "a");
    await compared;
  }
  expect(reads).toBeGreaterThan(2);
  stop.abort();
  expect(await changed).toBe(false);
  watch.close();
});
