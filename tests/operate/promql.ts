// The names in PromQL expressions, by their shape: enough to hold them against a scrape. That they parse, promtool says.

/** Metrics, and labels with the metrics of their expression. */
export interface Names {
  metrics: string[];
  labels: string[];
}

const KEYWORDS = [
  "by",
  "without",
  "on",
  "ignoring",
  "offset",
  "unless",
  "and",
  "or",
  "bool",
  "group_left",
  "group_right",
];

/** Names in an expression. Labels are those of matchers and of lists behind `by`, `on` and their like. */
export function namesIn(expression: string): Names {
  const text = expression.replace(/"[^"]*"|'[^']*'/g, '""').replace(/\[[^\]]*\]/g, "");
  const labels = new Set<string>();
  const withoutMatchers = text.replace(/\{([^}]*)\}/g, (_, inside: string) => {
    for (const [, name] of inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.add(name ?? "");
    return "";
  });
  const withoutLists = withoutMatchers.replace(/\b(by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, __, inside: string) => {
    for (const name of inside.split(",")) labels.add(name.trim());
    return " ";
  });
  const words = [...withoutLists.matchAll(/\b([a-zA-Z_:]\w*)\b(\s*\()?/g)];
  const metrics = words.filter(([, word, call]) => call === undefined && !KEYWORDS.includes(word ?? ""));
  return { metrics: [...new Set(metrics.map(([, word]) => word ?? ""))], labels: [...labels] };
}

/** The labels of each metric in the text that Prometheus scrapes. */
export function scraped(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split("\n")) {
    const [, name, labels = ""] = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = found.get(name) ?? new Set();
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label ?? "");
    found.set(name, known);
  }
  return found;
}
