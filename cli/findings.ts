/** One thing that is wrong with the input, at the place a user has to change. */
export interface Finding {
  file: string;
  /** 1-based; 0 in objects, which have no lines. */
  line: number;
  /** 1-based, in UTF-16 code units; 0 in objects. */
  col: number;
  /** Path of the field from the document's root, in the names the file uses; `(document)` for syntax errors. */
  path: string;
  /** `expected …, found …`. */
  message: string;
}

/** `file:line:col: path: expected …, found …`; without lines `file: path: expected …, found …`. */
export function formatFinding(finding: Finding): string {
  if (finding.line === 0) return `${finding.file === "" ? "" : `${finding.file}: `}${finding.path}: ${finding.message}`;
  return `${finding.file}:${finding.line}:${finding.col}: ${finding.path}: ${finding.message}`;
}

/** The input cannot be lowered. Carries every finding, in file order; nothing was written. */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const ordered = dropRepeats([...findings].sort((a, b) => a.line - b.line || a.col - b.col));
    super(ordered.map(formatFinding).join("\n"));
    this.findings = ordered;
  }
}

/** A node shared through an alias is met once per user, but is wrong only once. */
function dropRepeats(findings: Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const place = finding.line === 0 ? finding.path : `${finding.line}:${finding.col}`;
    const key = `${place}:${finding.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** What the user should know although the input was lowered. */
export type Warning = Finding;
