import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Io } from "../../cli/io.js";
import { runProgram, type ExitCode } from "../../cli/program.js";

/** The module's path in golden output, which must not depend on the machine. */
export const WASM_IN_GOLDEN = "/etc/envoy/attempt-router.wasm";

/** Arguments of Node.js that run the command from its sources. */
export const COMMAND = ["--import", "tsx", fileURLToPath(new URL("../../cli/main.ts", import.meta.url))];

export interface Fixture {
  name: string;
  /** Absolute path of the input. */
  input: string;
  /** Absolute path of a file beside it, by its ending (`.out.yaml`). */
  beside: (ending: string) => string;
  text: string;
  /** From a first line `# lower: --option…`. */
  options: string[];
}

/** The `*.in.yaml` and `*.in.json` files of a folder beside this one. */
export function fixtures(folder: string): Fixture[] {
  const directory = fileURLToPath(new URL(`${folder}/`, import.meta.url));
  return readdirSync(directory)
    .filter((file) => /\.in\.(yaml|json)$/.test(file))
    .map((file) => {
      const input = `${directory}${file}`;
      const text = readFileSync(input, "utf8");
      const options = /^# lower: (.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
      const beside = (ending: string): string => input.replace(/\.in\.\w+$/, ending);
      return { name: file.replace(/\.in\./, "."), input, beside, text, options };
    });
}

export interface Run {
  code: ExitCode;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process. */
export async function run(args: readonly string[], stdin = ""): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    stdin: Readable.from([stdin]),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    colors: false,
  };
  const code = await runProgram(args, io);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

/** Lowers a fixture with its options, and with a module's path that is the same everywhere. */
export function lowerFixture(fixture: Fixture): Promise<Run> {
  const remote = fixture.options.includes("--wasm-remote");
  const module = remote ? [] : ["--wasm", WASM_IN_GOLDEN];
  return run(["lower", fixture.input, "--no-check", ...module, ...fixture.options]);
}
