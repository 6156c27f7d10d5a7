// The built playground in Chromium, as a user meets it.

import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { playgroundCommand } from "../../cli/commands/playground.js";
import { servePlayground } from "../../cli/playground/server.js";
import { fragmentOf, sharedOf } from "../../cli/playground/share.js";
import { lower } from "../../cli/lower.js";
import { bootstrapOf } from "../check/examples.js";
import { run } from "../cli/support.js";
import { CHROMIUM, launch, open, settled } from "../../tools/playground/browser.js";

if (CHROMIUM === undefined && process.env["CI"] !== undefined) throw new Error("CI has to have Chromium");
if (CHROMIUM === undefined)
  process.stderr.write("not run: tests/playground needs Chromium (apt-get install chromium)\n");

const CONFIG = bootstrapOf({ groups: { one: ["a", 3, "b", 1], two: ["c"] } });
const NATIVE = readFileSync(
  fileURLToPath(new URL("../../envoy-config/llm-gateway/native.yaml", import.meta.url)),
  "utf8",
);

describe.skipIf(CHROMIUM === undefined)("the playground", () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof servePlayground>>;

  beforeAll(async () => {
    server = await servePlayground(0);
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const urlOf = async (config: string): Promise<string> => server.url + (await fragmentOf({ config, form: {} }));

  test("shows the way of a request, and follows the form", async () => {
    const { page, urls, errors } = await open(browser, await urlOf(CONFIG));
    expect(await markedOf(page)).toEqual(["a", "c"]);
    expect(await page.textContent(".result")).toMatch(/^200 from c/);
    await page.fill("[name=statuses]", "200");
    await page.locator("#explanation .marked").nth(1).waitFor({ state: "detached" });
    await page.fill("[name=headers]", "no header");
    await page.waitForSelector("#explanation.problem");
    expect(await page.textContent("#explanation")).toContain('a line "name: value" is expected');
    expect(errors).toEqual([]);
    // The page and its two files; the worker is made from the page.
    expect(urls.filter((url) => !url.startsWith(server.url) && !/^(blob|data):/.test(url))).toEqual([]);
    await page.context().close();
  });

  test("typing brings findings, at their lines in the editor and in the list, and they lead there", async () => {
    const { page } = await open(browser, await urlOf(CONFIG));
    const before = await page.locator("#findings button.error").count();
    await page.click("#editor .cm-content");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("stats_sinks: []\nstats_sinks: []\n");
    await page.locator("#findings", { hasText: "found this key again" }).waitFor();
    expect(await page.locator("#editor .cm-lint-marker-error").count()).toBe(1);
    expect(before).toBe(0);
    await page.click("#findings button.error");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("native config");
    expect(await page.textContent(".cm-activeLine")).toBe("stats_sinks: []");
    await page.context().close();
  });

  test.each([
    ["a chain", CONFIG],
    ["a gateway with all settings", NATIVE],
  ])("lowers %s as the command does, byte for byte, and marks lines", async (_, config) => {
    const { page } = await open(browser, await urlOf(config));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    const wasm = "/etc/envoy/attempt-router.wasm";
    expect(readFileSync(await download.path(), "utf8")).toBe(lower(config, { file: "native.yaml", wasm }).text);
    expect(await page.locator("#lowered-state").textContent()).toMatch(/^[1-9]\d* lines changed$/);
    await page.context().close();
  });

  test("a link has the config and the form, in its fragment", async () => {
    const { page } = await open(browser, await urlOf(CONFIG));
    await page.fill("[name=statuses]", "503");
    await settled(page);
    await page.click("#share");
    await page.locator("#state", { hasText: /^The link/ }).waitFor();
    const shared = await sharedOf(new URL(page.url()).hash);
    expect([shared?.config, shared?.form["statuses"]]).toEqual([CONFIG, "503"]);
    const { page: second } = await open(browser, page.url());
    expect(await second.inputValue("[name=statuses]")).toBe("503");
    expect(await second.textContent(".result")).toMatch(/^503/);
    await page.context().close();
    await second.context().close();
  });

  test("the keyboard alone reaches everything, and gets out of the editor", async () => {
    const { page } = await open(browser, await urlOf(CONFIG));
    const reached = new Set<string>();
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate<string>(`(({ ariaLabel, name, id }) => ariaLabel || name || id)(document.activeElement)`),
      );
    }
    const wanted = ["samples", "share", "native config", "path", "statuses", "metadata", "lowered file", "download"];
    expect(wanted.filter((name) => !reached.has(name))).toEqual([]);
    await page.context().close();
  });

  test("a phone shows it without scrolling sideways, light and dark", async () => {
    const grounds = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      const viewport = { width: 360, height: 740 };
      const { page } = await open(browser, await urlOf(NATIVE), { viewport, colorScheme });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      grounds.add(await page.evaluate<string>("getComputedStyle(document.body).backgroundColor"));
      await page.context().close();
    }
    expect(grounds.size).toBe(2);
  });

  test("nothing can be sent: not by the page, and not by its worker", async () => {
    const { page, errors } = await open(browser, server.url);
    const attempt = `fetch(${JSON.stringify(`${server.url}page.css`)}).then(() => "sent", () => "refused")`;
    const ofWorker = `new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(`${attempt}.then(postMessage)`)}])));
      worker.addEventListener("message", ({ data }) => resolve(data));
    })`;
    const sent = await page.evaluate(`Promise.all([${attempt}, ${ofWorker}])`);
    expect(sent).toEqual(["refused", "refused"]);
    expect(errors.every((error) => /Content Security Policy|violates/.test(error))).toBe(true);
    await page.context().close();
  });
});

/** The clusters of the marked boxes, from left to right. */
function markedOf(page: Page): Promise<string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('#explanation rect.marked')].map((box) => box.nextElementSibling.textContent)",
  );
}

test("a fragment that is none, or that grows without bounds, is left alone", async () => {
  const bomb = await fragmentOf({ config: "a".repeat(5_000_000), form: {} });
  expect(bomb.length).toBeLessThan(20_000);
  for (const fragment of ["", "#", "#c=", "#c=%%%", "#c=AAAA", bomb]) {
    expect(await sharedOf(fragment)).toBeUndefined();
  }
});

test("the server gives the page's files and no others", async () => {
  const server = await servePlayground(0);
  const statuses = ["", "page.js", "../cli/main.js", "..%2fcli%2fmain.js", "package.json"].map(
    async (path) => (await fetch(server.url + path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404, 404]);
  expect((await fetch(server.url, { method: "POST" })).status).toBe(404);
  await server.close();
});

test("the command serves its input until it is stopped, and says where", async () => {
  const stop = new AbortController();
  const lines: string[] = [];
  let ended: Promise<unknown> | undefined;
  const wrote = new Promise<void>((resolve) => {
    const write = (text: string): void => {
      lines.push(text);
      resolve();
    };
    const io = { stdin: Readable.from([CONFIG]), stdout: { write }, stderr: { write }, colors: false };
    const command = playgroundCommand(io, stop.signal);
    ended = command.parseAsync(["-"], { from: "user" });
  });
  await wrote;
  const url = new URL(lines[0] ?? "");
  expect((await sharedOf(url.hash))?.config).toBe(CONFIG);
  expect((await fetch(url)).headers.get("content-type")).toBe("text/html; charset=utf-8");
  const taken = await run(["playground", "--port", url.port]);
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/^--port: expected a port that is free/)]);
  stop.abort();
  await ended;
  await expect(fetch(url)).rejects.toThrow();
});
