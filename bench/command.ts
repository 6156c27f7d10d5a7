import { UnusableInput } from "./figures.js";

const UNUSABLE = 2;

/** Runs a command; wrong options, input that cannot be used and a missing tool end it with 2 and a message. */
export async function command(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Error) || !isExpected(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = UNUSABLE;
  }
}

function isExpected(error: NodeJS.ErrnoException): boolean {
  return error instanceof UnusableInput || error.code?.startsWith("ERR_PARSE_ARGS_") === true;
}

/**
 * A number from the command line.
 * @throws UnusableInput where `text` is none, or less than `least`.
 */
export function numberOption(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!(value >= least)) throw new UnusableInput(`--${name}: expected a number of at least ${least}, found "${text}"`);
  return value;
}
