// An explanation as text for a terminal.

import type picocolors from "picocolors";
import type { Candidate, Explanation, ExplainedAttempt } from "./explanation.js";
import { percent } from "./resolve.js";

type Colors = ReturnType<typeof picocolors.createColors>;

/** Lines for a reader: where the request goes, what happens there, and how it ends. */
export function renderExplanation(explanation: Explanation, colors: Colors): string {
  const { virtual_host, route, route_at, because, result } = explanation;
  const lines = [
    `${colors.bold("virtual host")}  ${virtual_host ?? "none"}  ${colors.dim(because.virtual_host)}`,
    `${colors.bold("route")}         ${routeText(route, route_at)}  ${colors.dim(because.route)}`,
    ...explanation.undecided.map((sentence) => `${colors.yellow("not decided")}   ${sentence}`),
    ...explanation.specifiers.map(
      (one) =>
        `${colors.bold("specifier")}     ${one.level} ${one.name} (${one.type}): ${one.applied ? "applies" : "does not apply"}, ${one.because}`,
    ),
    ...retryLines(explanation, colors),
    "",
    ...attemptTable(explanation.attempts, colors),
    ...pathLines(explanation),
    `${colors.bold("result")}  ${resultText(result, colors)}: ${result.because}`,
  ];
  return `${lines.join("\n")}\n`;
}

function routeText(route: string | null, at: string | null): string {
  if (route === null) return "none";
  return `${route === "" ? "(without a name)" : route} at ${at ?? ""}`;
}

function retryLines({ retries }: Explanation, colors: Colors): string[] {
  if (retries === null) return [];
  const perTry = retries.per_try_timeout_ms === 0 ? "none" : `${retries.per_try_timeout_ms} ms`;
  const total = retries.timeout_ms === 0 ? "none" : `${retries.timeout_ms} ms`;
  const policy =
    retries.source === "none"
      ? "no retry policy"
      : `${retries.num_retries} on ${retries.conditions.join(",") || "nothing"} (of the ${retries.source}), cluster ${
          retries.refresh_cluster_on_retry ? "refreshed" : "not refreshed"
        }`;
  return [`${colors.bold("retries")}       ${policy}; time-out of all attempts ${total}, of one ${perTry}`];
}

function attemptTable(attempts: readonly ExplainedAttempt[], colors: Colors): string[] {
  if (attempts.length === 0) return [];
  const rows = attempts.map((one) => [
    String(one.attempt),
    one.group ?? "-",
    one.candidates.map(candidateText).join(", "),
    one.cluster ?? "hangs on the random value",
    one.answer === null ? "it depends" : String(one.answer),
    one.next === "retry" ? "retry" : "end",
    [one.because, ...notesOf(one)].join("; "),
  ]);
  const head = ["attempt", "group", "candidates", "cluster", "answer", "then", "because"];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return [colors.bold(line(head)), ...rows.map(line), ""];
}

function notesOf({ override, skipped, probability }: ExplainedAttempt): string[] {
  return [
    ...(override === undefined ? [] : [`override ${override.used ? "used" : "not used"}: ${override.because}`]),
    ...(skipped === undefined ? [] : [`passed over without a host: ${skipped.join(", ")}`]),
    ...(probability < 1 ? [`${percent(probability)} of the requests come here`] : []),
  ];
}

function candidateText({ cluster, probability }: Candidate): string {
  return probability === 1 ? cluster : `${cluster} ${percent(probability)}`;
}

function pathLines({ paths, sampled }: Explanation): string[] {
  if (paths.length < 2) return [];
  const shown = paths.slice(0, 12).map(({ probability, clusters, status }) => {
    return `  ${percent(probability).padStart(8)}  ${clusters.map((one) => one ?? "(nowhere)").join(" → ")}  ${status ?? "no answer"}`;
  });
  const more = paths.length > 12 ? [`  and ${paths.length - 12} more ways`] : [];
  return [sampled ? "ways (a sample of random values)" : "ways", ...shown, ...more, ""];
}

function resultText({ status, cluster }: Explanation["result"], colors: Colors): string {
  const text = `${status ?? "it depends"}${cluster === null ? "" : ` from ${cluster}`}`;
  if (status === null) return colors.yellow(text);
  return status < 400 ? colors.green(text) : colors.red(text);
}
