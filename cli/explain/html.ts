// An explanation as one page that needs nothing else: a drawing of the attempts, and the table in words.

import { drawing } from "./drawing.js";
import type { Explanation } from "./explanation.js";
import { percent } from "./resolve.js";

/** A whole HTML document; `title` names the request. */
export function renderHtml(explanation: Explanation, title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${renderBody(explanation)}
</main>
</body>
</html>
`;
}

/** What the page says below its title. */
export function renderBody(explanation: Explanation): string {
  const { result } = explanation;
  const status = result.status === null ? "it depends" : String(result.status);
  const kind = result.status === null ? "open" : result.status < 400 ? "good" : "bad";
  return `<p class="result ${kind}"><strong>${status}</strong>${result.cluster === null ? "" : ` from ${escaped(result.cluster)}`}: ${escaped(result.because)}</p>
<dl>${facts(explanation)}</dl>
${explanation.attempts.length === 0 ? "" : `<figure tabindex="0">${drawing(explanation)}<figcaption>Attempts from left to right. A box is as high as the cluster's share; the marked way is what happens, or what is most likely.</figcaption></figure>`}
${attemptTable(explanation)}
${pathTable(explanation)}`;
}

function facts(explanation: Explanation): string {
  const { virtual_host, route, route_at, because, retries, undecided, specifiers } = explanation;
  const rows: [string, string][] = [
    ["virtual host", `${virtual_host ?? "none"} (${because.virtual_host})`],
    [
      "route",
      `${route === "" ? "without a name" : (route ?? "none")}${route_at === null ? "" : ` at ${route_at}`} (${because.route})`,
    ],
    ...specifiers.map((one): [string, string] => [
      "specifier",
      `${one.name} (${one.type}, ${one.level}) ${one.applied ? "applies" : "does not apply"}: ${one.because}`,
    ]),
    ...(retries === null
      ? []
      : ([
          [
            "retries",
            `${retries.num_retries} on ${retries.conditions.join(", ") || "nothing"}, of the ${retries.source}`,
          ],
        ] as [string, string][])),
    ...undecided.map((sentence): [string, string] => ["not decided", sentence]),
  ];
  return rows.map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`).join("");
}

function attemptTable({ attempts }: Explanation): string {
  if (attempts.length === 0) return "";
  const rows = attempts.map((one) => {
    const candidates = one.candidates
      .map(({ cluster, probability }) => `${cluster} ${percent(probability)}`)
      .join(", ");
    const notes = [
      one.because,
      ...(one.override === undefined
        ? []
        : [`override ${one.override.used ? "used" : "not used"}: ${one.override.because}`]),
      ...(one.skipped === undefined ? [] : [`passed over without a host: ${one.skipped.join(", ")}`]),
    ];
    const cells = [
      one.attempt,
      one.group ?? "–",
      candidates,
      one.cluster ?? "–",
      one.answer ?? "it depends",
      one.next,
      notes.join("; "),
    ];
    return `<tr>${cells.map((cell) => `<td>${escaped(String(cell))}</td>`).join("")}</tr>`;
  });
  const head = ["attempt", "group", "candidates", "cluster", "answer", "then", "because"];
  return table("Attempts", head, rows);
}

function pathTable({ paths }: Explanation): string {
  if (paths.length < 2) return "";
  const rows = paths.slice(0, 50).map(({ probability, clusters, status }) => {
    const way = clusters.map((one) => one ?? "nowhere").join(" → ");
    return `<tr><td>${percent(probability)}</td><td>${escaped(way)}</td><td>${status ?? "no answer"}</td></tr>`;
  });
  return table("Ways", ["share", "clusters", "status"], rows);
}

function table(title: string, head: readonly string[], rows: readonly string[]): string {
  const cells = head.map((cell) => `<th scope="col">${cell}</th>`).join("");
  return `<h2>${title}</h2><div class="wide" tabindex="0"><table><thead><tr>${cells}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** For what `renderBody` writes, and for pages around it. */
export const STYLE = `
:root{color-scheme:light dark;--ground:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--box:#eef2f6;--mark:#0969da;--markbox:#ddebfb;--good:#1a7f37;--bad:#cf222e;--open:#9a6700}
@media(prefers-color-scheme:dark){:root{--ground:#0d1117;--text:#e6edf3;--soft:#9aa4af;--line:#30363d;--box:#1c232b;--mark:#58a6ff;--markbox:#143055;--good:#3fb950;--bad:#ff7b72;--open:#d29922}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:1rem}
h1{font-size:1.25rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .5rem}
.result{padding:.5rem .75rem;border-left:4px solid var(--open);background:var(--box)}.good{border-color:var(--good)}.bad{border-color:var(--bad)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:1rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
figure{margin:1rem 0;overflow-x:auto}figcaption{color:var(--soft);font-size:.85rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;width:100%}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600}
svg{display:block}svg text{fill:var(--text);font:13px system-ui,sans-serif}svg .soft{fill:var(--soft);font-size:12px}
svg .box{fill:var(--box);stroke:var(--line)}svg .marked{fill:var(--markbox);stroke:var(--mark);stroke-width:2}
svg .edge{fill:none;stroke:var(--line)}svg .way{fill:none;stroke:var(--mark)}
@media(max-width:600px){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}main{padding:.75rem}}
`;
