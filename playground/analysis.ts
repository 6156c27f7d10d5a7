// Everything that the page shows of a config and a request; the worker runs it.

import { checkProgram } from "../cli/check/run.js";
import { explain } from "../cli/explain/explain.js";
import { renderBody } from "../cli/explain/html.js";
import { ModulePicks } from "../cli/explain/module-picks.js";
import { PlaceError } from "../cli/explain/resolve.js";
import { InputError, type Finding } from "../cli/findings.js";
import { lower } from "../cli/lower/lower.js";
import { moduleValidator, type SettingsValidator } from "../cli/lower/module-check.js";
import type { Program } from "../cli/model/index.js";
import type { ModuleFiles } from "../cli/modules.js";
import { readProgram } from "../cli/read/program.js";
import { changedLines } from "./changed-lines.js";
import { FormError, questionOf, suggestedPath, type Form } from "./question.js";

export const FILE = "native.yaml";
/** What the lowered file names as the module; `--wasm` of the command. */
export const WASM = "/etc/envoy/attempt-router.wasm";

export interface PageFinding {
  severity: "error" | "warning" | "info";
  line: number;
  column: number;
  message: string;
  /** Of a check, which has a page under docs/checks. */
  code?: string;
  why?: string;
  fix?: string;
}

export interface Analysis {
  findings: PageFinding[];
  /** Absent where the config cannot be lowered. */
  lowered?: { text: string; changed: number[] };
  /** HTML in which everything that comes from the config is escaped. */
  explanation?: string;
  /** What is wrong with the form, or cannot be explained. */
  problem?: string;
  /** The path that is taken where the form has none. */
  path: string;
}

export class Analyser {
  private readonly validator: SettingsValidator;
  private readonly picks: ModulePicks;

  constructor(private readonly files: ModuleFiles) {
    this.validator = moduleValidator(files.main, files);
    this.picks = new ModulePicks(files.read(files.main));
  }

  analyse(config: string, form: Form): Analysis {
    let program: Program;
    try {
      program = readProgram(FILE, config);
    } catch (error) {
      return { findings: errorsOf(error), path: "/" };
    }
    const { findings, lowered } = this.lowered(config);
    const checks = checkProgram(program, config);
    const all = [...findings, ...checks].sort((a, b) => a.line - b.line || a.column - b.column);
    return { findings: all, ...lowered, ...this.explained(program, form), path: suggestedPath(program) };
  }

  private lowered(config: string): { findings: PageFinding[]; lowered: Pick<Analysis, "lowered"> } {
    try {
      const options = { file: FILE, wasm: WASM, checkWasm: this.files.main, validator: this.validator };
      const { text, warnings } = lower(config, options, this.files);
      const findings = warnings.map((warning) => pageFinding("warning", warning));
      return { findings, lowered: { lowered: { text, changed: changedLines(config, text) } } };
    } catch (error) {
      return { findings: errorsOf(error), lowered: {} };
    }
  }

  private explained(program: Program, form: Form): Pick<Analysis, "explanation" | "problem"> {
    try {
      return { explanation: renderBody(explain(program, questionOf(form, program), this.picks)) };
    } catch (error) {
      if (error instanceof FormError || error instanceof PlaceError) return { problem: error.message };
      return { problem: `this request cannot be explained: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
}

function pageFinding(severity: "error" | "warning", { line, col, path, message }: Finding): PageFinding {
  return { severity, line, column: col, message: `${path}: ${message}` };
}

/** @throws what is no finding about the config */
function errorsOf(error: unknown): PageFinding[] {
  if (!(error instanceof InputError)) throw error;
  return error.findings.map((finding) => pageFinding("error", finding));
}
