// The documentation as a static site: docs/ in the order of docs/README.md, with a search that needs no server.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { sectionsOf } from "../contents.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** A copy of docs/: the generator finds its own packages beside the pages only. */
const PAGES = fileURLToPath(new URL("../pages", import.meta.url));
const { repository, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  repository: { url: string };
  version: string;
};
const SOURCE = repository.url.replace(/^git\+|\.git$/g, "");

export default defineConfig({
  title: "attempt-router",
  description: "Attempt-aware routing across clusters for stock Envoy",
  srcDir: PAGES,
  outDir: join(ROOT, "build/site"),
  cacheDir: join(ROOT, "build/site-cache"),
  // The release publishes the playground beside the pages.
  base: process.env.SITE_BASE ?? "/",
  rewrites: { "README.md": "index.md", "operate/README.md": "operate/index.md" },
  themeConfig: {
    nav: [
      { text: version, link: `${SOURCE}/blob/main/CHANGELOG.md` },
      { text: "Source", link: SOURCE },
    ],
    sidebar: sectionsOf(readFileSync(join(PAGES, "README.md"), "utf8")).map(({ title, pages }) => ({
      text: title,
      items: pages
        .filter(({ file }) => !file.startsWith(".."))
        .map(({ text, file }) => ({ text, link: `/${siteFile(file)}` })),
    })),
    search: { provider: "local" },
    outline: [2, 3],
  },
  markdown: {
    config(markdown) {
      markdown.core.ruler.push("links", ({ tokens, env }) => {
        const page = (env as { path: string }).path;
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === "link_open" ? token.attrGet("href") : null;
          if (href !== null) token.attrSet("href", siteLink(page, href));
        }
      });
    },
  },
});

/** A link as it works on the site: what stands outside of docs/ is shown in the repository. */
function siteLink(page: string, href: string): string {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = join("docs", relative(PAGES, join(dirname(page), path)));
  const hash = anchor === undefined ? "" : `#${anchor}`;
  return /^docs\/.*\.(md|svg|png)$/.test(target) ? siteFile(href) : `${SOURCE}/blob/main/${target}${hash}`;
}

function siteFile(file: string): string {
  return file.replace(/(^|\/)README\.md/, "$1index.md");
}
