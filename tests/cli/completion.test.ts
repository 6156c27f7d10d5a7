import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "./support.js";

/** Asks a shell for the completions of each line (without the command's name): the words that it puts there. */
type Ask = (script: string, lines: readonly string[]) => Promise<string[][]>;

/** A key that puts all completions into the line, and a function in the command's place that notes what it is called with. */
const NOTE = `attempt-router() { printf '%s\\0' "$@" >>../words; printf '\\n' >>../words; }`;
const BASH = `bind '"\\C-t": insert-completions'\n${NOTE}\nsource ../script`;
const ZSH = `autoload -U compinit && compinit -D -u
zle -C all complete-word _generic
zstyle ':completion:all:*' completer _all_matches _complete
zstyle ':completion:all:*' insert yes
bindkey '^T' all
${NOTE}
source ../script`;

const ASK: Record<string, Ask> = {
  bash: (script, lines) => onTerminal(["bash", "--norc", "--noprofile", "-i"], BASH, script, lines),
  zsh: (script, lines) => onTerminal(["zsh", "-f", "-i"], ZSH, script, lines),
  fish: async (script, lines) => {
    await writeFile(join(folder, "script"), script);
    const asked = lines.map((line) => `complete -C 'attempt-router ${line}'; echo END`).join("\n");
    const { stdout } = await execa("fish", ["--no-config", "-c", `source ../script\n${asked}`], {
      cwd: join(folder, "files"),
    });
    return stdout.split("END\n").map((answer) => answer.split("\n").map((line) => line.split("\t")[0] ?? ""));
  },
};

/** Has the shells' input and output, and a folder `files`, where they run. */
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attempt-router-completion-"));
  await mkdir(join(folder, "files/sub"), { recursive: true });
  for (const file of ["native.yaml", "a b.yaml", "other.json"]) await writeFile(join(folder, "files", file), "");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(["bash", "zsh", "fish"])("%s", (shell) => {
  test("completes commands, options, their choices and files", async ({ skip }) => {
    const { failed } = await execa("which", [shell], { reject: false });
    if (failed && process.env["CI"] === undefined) skip(`needs ${shell}`);
    const { code, stdout } = await run(["completion", shell]);
    expect(code).toBe(0);
    const commands = ["lower", "compile", "check", "explain", "test", "playground", "serve", "completion", "help"];
    const help = (await run(["lower", "--help"])).stdout;
    const files = ["a b.yaml", "native.yaml", "other.json", "sub"];
    const expected: Record<string, string[]> = {
      ch: ["check"],
      "check --fo": ["--format"],
      "check --format ": ["text", "json", "sarif", "github"],
      "check --format=s": ["--format=sarif"],
      "test --format ": ["tap", "junit", "json"],
      "lower --": [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1] ?? ""),
      "lower --failure-policy FAIL_C": ["FAIL_CLOSED"],
      "lower ": files,
      "lower -o n": ["native.yaml"],
      "lower native.yaml -o other.json a": ["a b.yaml"],
      // A file that is called like a command.
      "lower check --no-c": ["--no-check"],
      "explain native.yaml --scheme ": ["http", "https"],
      // What only the user knows.
      "explain native.yaml --random ": [],
      "completion ": ["bash", "zsh", "fish"],
      "help ": commands,
      "nothing ": [],
    };
    const lines = Object.keys(expected);
    const answers = await ASK[shell]?.(stdout, lines);
    expect(Object.fromEntries(lines.map((line, i) => [line, completed(line, answers?.[i] ?? [])]))).toEqual(
      Object.fromEntries(Object.entries(expected).map(([line, words]) => [line, [...words].sort()])),
    );
  });
});

/** Types each line and the key in an interactive shell, whose function in the command's place notes the words. */
async function onTerminal(
  shell: string[],
  start: string,
  script: string,
  lines: readonly string[],
): Promise<string[][]> {
  await rm(join(folder, "words"), { force: true });
  await writeFile(join(folder, "script"), script);
  await writeFile(join(folder, "start"), start);
  const typed = ["source ../start", ...lines.map((line) => `attempt-router ${line}\x14`), "exit", ""].join("\n");
  const command = ["-c", "import pty, sys; pty.spawn(sys.argv[1:])", ...shell];
  await execa("python3", command, { cwd: join(folder, "files"), input: typed, timeout: 30_000 });
  const noted = (await readFile(join(folder, "words"), "utf8")).split("\n");
  return lines.map((line, i) => (noted[i] ?? "").split("\0").slice(line.split(" ").length - 1));
}

/** Sorted, without what was typed and the slash behind a folder. */
function completed(line: string, words: readonly string[]): string[] {
  const typed = line.slice(line.lastIndexOf(" ") + 1);
  return words
    .filter((word) => word !== typed && word !== "END")
    .map((word) => word.replace(/\/$/, ""))
    .filter(Boolean)
    .sort();
}
