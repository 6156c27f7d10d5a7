import { Argument, Command } from "commander";
import { completionScript, SHELLS, type Shell } from "../completion/index.js";
import type { Io } from "../io.js";

const EXAMPLES = `
Examples:
  $ source <(attempt-router completion bash)     # in ~/.bashrc
  $ source <(attempt-router completion zsh)      # in ~/.zshrc, after compinit
  $ attempt-router completion fish > ~/.config/fish/completions/attempt-router.fish

Exit codes: 0 done, 2 wrong usage.`;

/** `attempt-router completion`. */
export function completionCommand(io: Io): Command {
  return new Command("completion")
    .description("Print a script that lets a shell complete commands, options and files.")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText("after", EXAMPLES)
    .action((shell: Shell, _: object, command: Command) => {
      io.stdout.write(completionScript(command.parent ?? command, shell));
    });
}
