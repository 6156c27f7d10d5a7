// Findings for people, for programs, for code scanning (SARIF 2.1.0) and for GitHub's annotations.

import { version } from "../version.js";
import type { Check, CheckFinding, Severity } from "./check.js";

export const FORMATS = ["text", "json", "sarif", "github"] as const;
export type Format = (typeof FORMATS)[number];

/** All findings in one of the formats. */
export function formatFindings(findings: readonly CheckFinding[], format: Format, checks: readonly Check[]): string {
  if (format === "json") return `${JSON.stringify(findings, null, 2)}\n`;
  if (format === "sarif") return `${JSON.stringify(sarif(findings, checks), null, 2)}\n`;
  return findings.map(format === "github" ? githubLine : textLines).join("");
}

/** `file:line:col: severity: message [code]`, and below why it matters and what to write. */
export function textLines({ file, line, column, severity, message, code, why, fix }: CheckFinding): string {
  return `${file}:${line}:${column}: ${severity}: ${message} [${code}]\n    why: ${why}\n    fix: ${fix}\n`;
}

const GITHUB: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

function githubLine({ file, line, column, severity, message, code, fix }: CheckFinding): string {
  const place = `file=${property(file)},line=${line},col=${column},title=${property(code)}`;
  return `::${GITHUB[severity]} ${place}::${data(`${message}. ${fix}`)}\n`;
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

const SARIF: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };

function sarif(findings: readonly CheckFinding[], checks: readonly Check[]): unknown {
  const rules = checks.map(({ code, title, why, severity }) => ({
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: why },
    defaultConfiguration: { level: SARIF[severity] },
  }));
  const results = findings.map(({ code, severity, file, line, column, message, fix }) => ({
    ruleId: code,
    level: SARIF[severity],
    message: { text: `${message}. ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.replaceAll("\\", "/") },
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  }));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "attempt-router", version, rules } }, results }],
  };
}
