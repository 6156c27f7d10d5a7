// A real Chromium, with the playground open in it.

import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

/** Where Chromium is; undefined: nowhere that is looked at. */
export const CHROMIUM = [process.env["CHROMIUM_BIN"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);

export function launch(): Promise<Browser> {
  // Root has no sandbox of its own in a container.
  return chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
}

/** The page, once the first analysis is shown; `urls` gets everything that it asks the network for. */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; urls: string[]; errors: string[] }> {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const urls: string[] = [];
  const errors: string[] = [];
  context.on("request", (request) => urls.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(url);
  await settled(page);
  return { page, urls, errors };
}

/** Waits until what is in the editor has been looked at. */
export async function settled(page: Page): Promise<void> {
  await page.locator("#state", { hasText: /^[^…]/ }).waitFor();
}
