#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { lowerCommand } from "./commands/lower.js";
import { InputError, formatFinding } from "./findings.js";
import { paint } from "./paint.js";

const EXIT = { inputWrong: 1, usageWrong: 2 } as const;

async function main(args: string[]): Promise<number> {
  const program = new Command("attempt-router")
    .description("Attempt-aware routing across clusters for stock Envoy.")
    .exitOverride()
    .showHelpAfterError("(attempt-router --help shows the usage)");
  program.addCommand(lowerCommand().copyInheritedSettings(program));
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usageWrong;
  if (!(error instanceof InputError)) throw error;
  for (const finding of error.findings) process.stderr.write(`${paint(formatFinding(finding))}\n`);
  return EXIT.inputWrong;
}

process.exitCode = await main(process.argv.slice(2));
