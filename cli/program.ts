import { Command, CommanderError } from "commander";
import { checkCommand } from "./commands/check.js";
import { withBareEnvoy } from "./commands/envoy-option.js";
import { completionCommand } from "./commands/completion.js";
import { explainCommand } from "./commands/explain.js";
import { lowerCommand } from "./commands/lower.js";
import { playgroundCommand } from "./commands/playground.js";
import { serveCommand } from "./commands/serve.js";
import { testCommand } from "./commands/test.js";
import { writeFailure } from "./failures.js";
import { flushed } from "./files.js";
import type { Io } from "./io.js";
import { version } from "./version.js";

/** 0 done, 1 the input is wrong, 2 wrong usage, or an installation that cannot work. */
export type ExitCode = 0 | 1 | 2;

/** Runs a command line, without the program's own name. Resolves to its exit code; rejects only for defects. */
export async function runProgram(args: readonly string[], io: Io): Promise<ExitCode> {
  const program = new Command("attempt-router")
    .description("Attempt-aware routing across clusters for stock Envoy.")
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .exitOverride()
    .version(version)
    .showHelpAfterError("(add --help for the usage)");
  // What was asked was done, and what came out is that the input is wrong.
  const outcome = { failed: false };
  const fail = (): void => void (outcome.failed = true);
  const commands = [
    lowerCommand(io),
    checkCommand(io, fail),
    explainCommand(io),
    testCommand(io, fail),
    playgroundCommand(io),
    serveCommand(io),
    completionCommand(io),
  ];
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  try {
    const code = await parse(program, args);
    await flushed(io);
    return code === 0 && outcome.failed ? 1 : code;
  } catch (error) {
    return writeFailure(io, error);
  }
}

async function parse(program: Command, args: readonly string[]): Promise<ExitCode> {
  try {
    await program.parseAsync(withBareEnvoy(args), { from: "user" });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}
