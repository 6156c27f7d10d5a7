import { flagsOf, type CommandTree, type CompletedCommand, type Values } from "./tree.js";

/** A script for bash from 3.2 on; it needs no package beside it. Files are left to the shell. */
export function bashScript({ name, options, commands }: CommandTree): string {
  const names = commands.flatMap((command) => command.names);
  return `# bash completion for ${name}
_${identifier(name)}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= word words i
  # bash takes --option=value apart, at the =.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word != -* ]]; then
      command=$word
      break
    fi
  done
  COMPREPLY=()
  case $command in
    '')
      words='${[...options.flatMap(flagsOf), ...names].join(" ")}' ;;
${commands.map(caseOf).join("\n")}
    *)
      words= ;;
  esac
  # Nothing in COMPREPLY lets bash complete files, unless it is told not to; bash 3.2 cannot be told.
  if [[ $words == file && $cur != -* ]]; then return; fi
  compopt +o default +o bashdefault 2>/dev/null
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _${identifier(name)} ${name}
`;
}

function caseOf({ names, options, argument }: CompletedCommand): string {
  const valued = options.filter(({ values }) => values !== "none");
  const flags = options.flatMap(flagsOf).join(" ");
  const lines = [
    `    ${names.join(" | ")})`,
    "      case $prev in",
    ...valued.map((option) => `        ${flagsOf(option).join(" | ")}) words='${wordsOf(option.values)}' ;;`),
    `        *) if [[ $cur == -* ]]; then words='${flags}'; else words='${wordsOf(argument)}'; fi ;;`,
    "      esac ;;",
  ];
  return lines.join("\n");
}

function wordsOf(values: Values): string {
  if (values === "file") return "file";
  return typeof values === "string" ? "" : values.join(" ");
}

function identifier(name: string): string {
  return name.replaceAll(/\W/g, "_");
}
