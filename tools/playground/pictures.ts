// Draws the pictures of the playground in the documentation: `npm run playground:pictures`.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { servePlayground } from "../../cli/playground/server.js";
import { fragmentOf } from "../../cli/playground/share.js";
import { launch, open } from "./browser.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const native = await readFile(`${ROOT}envoy-config/cross-provider-fallback/native.yaml`, "utf8");
/** Without what a fallback needs most, so that there is something to find. */
const config = native.replace(/^ *refresh_cluster_on_retry: true\n/m, "");
const form = { method: "POST", statuses: "429, 200" };

const server = await servePlayground(0);
const browser = await launch();
try {
  await shoot("playground", native);
  await shoot("playground-findings", config);
} finally {
  await browser.close();
  await server.close();
}

async function shoot(name: string, text: string): Promise<void> {
  const url = server.url + (await fragmentOf({ config: text, form }));
  const { page } = await open(browser, url, { viewport: { width: 1200, height: 760 }, colorScheme: "light" });
  const finding = page.locator("#findings button").first();
  if ((await finding.count()) > 0) await finding.click();
  await page.screenshot({ path: `${ROOT}docs/images/${name}.png` });
  await page.context().close();
}
