import type { CommandTree, CompletedCommand, CompletedOption, Values } from "./tree.js";

/** A script for fish from 3.0 on. */
export function fishScript({ name, options, commands }: CommandTree): string {
  const test = `__${name.replaceAll(/\W/g, "_")}_command`;
  const line = (condition: string, rest: string): string => `complete -c ${name} -n '${condition}' ${rest}`;
  const lines = [
    ...options.map((option) => line(test, optionOf(option))),
    ...commands.flatMap((command) => [
      ...command.names.map((one) => line(test, `-a ${one} -d ${quoted(command.description)}`)),
      ...restOf(command).map((rest) => line(`${test} ${command.names.join(" ")}`, rest)),
    ]),
  ];
  return `# fish completion for ${name}
# True where the command is one of the given ones; without any, where there is none yet.
function ${test}
    for word in (commandline -opc)[2..-1]
        if not string match -q -- '-*' $word
            contains -- $word $argv
            return
        end
    end
    test (count $argv) -eq 0
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

function restOf({ argument, options }: CompletedCommand): string[] {
  const files = argument === "file" ? ["-F"] : [];
  const words = typeof argument === "string" ? [] : [`-a ${quoted(argument.join(" "))}`];
  return [...files, ...words, ...options.map(optionOf)];
}

function optionOf({ short, long, description, values, optional }: CompletedOption): string {
  const shortForm = short === undefined ? "" : `-s ${short.slice(1)} `;
  return `${shortForm}-l ${long.slice(2)} ${optional ? "" : valueOf(values)}-d ${quoted(description)}`;
}

function valueOf(values: Values): string {
  if (values === "none") return "";
  if (values === "file") return "-r -F ";
  return values === "text" ? "-x " : `-x -a ${quoted(values.join(" "))} `;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}
