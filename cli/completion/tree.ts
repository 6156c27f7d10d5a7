// The command line as a shell sees it: read from the commands themselves, so that it cannot miss an option.

import type { Argument, Command, Option } from "commander";

/** What stands where a value is expected: nothing, one of some words, a file, or what only the user knows. */
export type Values = "none" | "file" | "text" | readonly string[];

export interface CompletedOption {
  readonly short: string | undefined;
  readonly long: string;
  readonly description: string;
  readonly values: Values;
  /** The value may be left out. */
  readonly optional: boolean;
  readonly repeatable: boolean;
  /** What the value is called in the help. */
  readonly valueName: string;
}

export interface CompletedCommand {
  /** The name, then the aliases. */
  readonly names: readonly string[];
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly argument: Values;
}

export interface CommandTree {
  readonly name: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly CompletedCommand[];
}

/** Values with these names in the help are files; every other name is text. */
const FILES = ["file", "files", "input", "inputs", "path"];

export function treeOf(program: Command): CommandTree {
  const commands = program.createHelp().visibleCommands(program);
  const names = commands.flatMap((command) => [command.name(), ...command.aliases()]);
  return {
    name: program.name(),
    options: optionsOf(program),
    commands: commands.map((command) => ({
      names: [command.name(), ...command.aliases()],
      description: command.description(),
      options: optionsOf(command),
      argument: argumentOf(command.registeredArguments[0], names),
    })),
  };
}

function argumentOf(argument: Argument | undefined, commands: readonly string[]): Values {
  if (argument === undefined) return "none";
  if (argument.name() === "command") return commands;
  return argument.argChoices ?? (FILES.includes(argument.name()) ? "file" : "text");
}

function optionsOf(command: Command): CompletedOption[] {
  return command.createHelp().visibleOptions(command).map(optionOf);
}

function optionOf(option: Option): CompletedOption {
  const valueName = /[<[](.*)[>\]]/.exec(option.flags)?.[1] ?? "";
  const text = FILES.includes(valueName) ? "file" : "text";
  return {
    short: option.short,
    long: option.long ?? "",
    description: option.description,
    values: option.required || option.optional ? (option.argChoices ?? text) : "none",
    optional: option.optional,
    repeatable: Array.isArray(option.defaultValue),
    valueName,
  };
}

/** Each way to write an option. */
export function flagsOf({ short, long }: CompletedOption): string[] {
  return short === undefined ? [long] : [short, long];
}
