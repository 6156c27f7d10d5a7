// What Envoy itself says of a file, native and lowered.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../findings.js";
import { lower } from "../lower.js";
import type { CheckFinding } from "./check.js";

/**
 * Runs `envoy --mode validate` on a bootstrap and on what it lowers to; what `lower` refuses is a finding as well.
 * @throws InputError where there is no such Envoy
 */
export async function validateWithEnvoy(envoy: string, file: string, text: string): Promise<CheckFinding[]> {
  const native = await validate(envoy, text);
  const found = native === undefined ? [] : [finding(file, text, native, "this file")];
  const lowered = tryLower(file, text);
  if (typeof lowered !== "string") return [...found, ...lowered];
  const after = lowered === text ? undefined : await validate(envoy, lowered);
  if (after === undefined || after === native) return found;
  return [...found, finding(file, text, after, "what this file lowers to")];
}

function tryLower(file: string, text: string): string | CheckFinding[] {
  try {
    return lower(text, { file }).text;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.findings.map((one) => ({
      code: "refused-by-lower",
      severity: "error",
      file: one.file,
      line: one.line,
      column: one.col,
      path: one.path,
      message: one.message,
      why: "lower writes nothing for this file",
      fix: "write what was expected",
    }));
  }
}

function finding(file: string, text: string, error: string, what: string): CheckFinding {
  const { line, column } = placeOf(text, error);
  return {
    code: "refused-by-envoy",
    severity: "error",
    file,
    line,
    column,
    path: "(document)",
    message: `Envoy refuses ${what}: ${error}`,
    why: "Envoy does not start with it",
    fix: "change what the message names",
  };
}

/** Envoy says no lines: the first quoted word of its message that stands in the file is a good guess. */
function placeOf(text: string, error: string): { line: number; column: number } {
  const words = [...error.matchAll(/['"]([^'"\s]{2,})['"]/g)].map((match) => match[1] ?? "");
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) continue;
    const before = text.slice(0, at).split("\n");
    return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
  }
  return { line: 1, column: 1 };
}

/** The message of a refusal; undefined where the file is good. */
async function validate(envoy: string, text: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "attempt-router-"));
  const path = join(folder, "config.yaml");
  try {
    await writeFile(path, text);
    const { code, stderr } = await runEnvoy(envoy, ["--mode", "validate", "-c", path, "--log-level", "error"]);
    return code === 0 ? undefined : messageOf(stderr, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runEnvoy(envoy: string, args: readonly string[]): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve, reject) => {
    execFile(envoy, [...args], (error, stdout, stderr) => {
      if (error !== null && typeof error.code === "string") {
        const message = `expected an Envoy that can be run, found ${error.code}`;
        reject(new InputError([{ file: envoy, line: 1, col: 1, path: "(file)", message }]));
      } else resolve({ code: error === null ? 0 : 1, stderr: stdout + stderr });
    });
  });
}

function messageOf(stderr: string, path: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line =
    lines.find((one) => /error initializing|\[critical\]|exception/i.test(one)) ?? lines.at(-1) ?? "it gives no reason";
  // The proxy varies the spaces of its messages, and counts characters of a form that nobody sees.
  return line
    .replace(/\s+/g, " ")
    .replace(/^(\[[^\]]*\] ?)+/, "")
    .replace(/^error initializing (configuration|config) '[^']*': ?/, "")
    .replace(/,? near \d+:\d+ \(offset \d+\)/, "")
    .replaceAll(path, "the file")
    .trim();
}
