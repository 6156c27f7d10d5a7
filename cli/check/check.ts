// What a check is: a pure function over the model, with the words that explain it.

import type { Message } from "../model/index.js";
import type { CheckContext } from "./context.js";

export type Severity = "error" | "warning" | "info";

/** One thing that was found, at the place a user has to look at. */
export interface Found {
  readonly at: Message;
  /** What is there, in one sentence without a full stop. */
  readonly message: string;
  /** What to write. */
  readonly fix: string;
}

export interface Check {
  /** Stable: comments that suppress it and docs/checks have this name. */
  readonly code: string;
  readonly severity: Severity;
  /** What it finds, for lists of checks. */
  readonly title: string;
  /** Why that matters: what would surprise the user. */
  readonly why: string;
  find(context: CheckContext): Found[];
}

/** What `check` reports. */
export interface CheckFinding {
  code: string;
  severity: Severity;
  file: string;
  line: number;
  column: number;
  path: string;
  message: string;
  why: string;
  fix: string;
}
