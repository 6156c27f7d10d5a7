import type { Command } from "commander";
import { bashScript } from "./bash.js";
import { fishScript } from "./fish.js";
import { treeOf } from "./tree.js";
import { zshScript } from "./zsh.js";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that completes a program's commands, options, their choices and files. */
export function completionScript(program: Command, shell: Shell): string {
  const tree = treeOf(program);
  if (shell === "bash") return bashScript(tree);
  return shell === "zsh" ? zshScript(tree) : fishScript(tree);
}
