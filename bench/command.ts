import { UnusableInput } from "./figures.js";

const UNUSABLE = 2;

/** Runs a command; input that cannot be used ends it with 2 and its message. */
export async function command(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof UnusableInput)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = UNUSABLE;
  }
}
