import { flagsOf, type CommandTree, type CompletedOption, type Values } from "./tree.js";

/** A script for zsh: to source, or to put as `_NAME` into a folder of `fpath`. */
export function zshScript({ name, options, commands }: CommandTree): string {
  const listed = commands.flatMap(({ names, description }) => names.map((one) => [one, description] as const));
  const list = listed.map(([one, description]) => `    ${quoted(`${one}:${description}`)}`).join("\n");
  const cases = commands.map(
    (command) => `    ${command.names.join("|")})
      _arguments -s -S ${[...command.options.map(specOf), `'*:argument:${actionOf(command.argument)}'`].join(" \\\n        ")}
      ;;`,
  );
  return `#compdef ${name}
_${name}_commands() {
  local -a commands=(
${list}
  )
  _describe -t commands command commands
}
_${name}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C ${options.map(specOf).join(" ")} \\
    '1:command:_${name}_commands' '*::argument:->argument'
  [[ $state == argument ]] || return
  case $line[1] in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function specOf(option: CompletedOption): string {
  const { short, long, description, values, optional, repeatable, valueName } = option;
  const text = `[${description.replaceAll(/[\\[\]]/g, "\\$&")}]`;
  const value =
    values === "none" ? "" : `${optional ? "::" : ":"}${valueName.replaceAll(":", "\\:")}:${actionOf(values)}`;
  const [joinedShort, joinedLong] = values === "none" ? ["", ""] : ["+", "="];
  const forms = short === undefined ? `${long}${joinedLong}` : `{${short}${joinedShort},${long}${joinedLong}}`;
  const excluded = repeatable ? "'*'" : `'(${flagsOf(option).join(" ")})'`;
  return `${excluded}${forms}${quoted(text + value)}`;
}

function actionOf(values: Values): string {
  if (values === "file") return "_files";
  return typeof values === "string" ? " " : `(${values.join(" ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
