/**
 * Formats the completion scripts of shells from the declared command line. A script completes by
 * itself: it never runs the executable, which would take longer than the key press.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";

const formats = { bash: formatBash, zsh: formatZsh, fish: formatFish };

export type Shell = keyof typeof formats;

/** The script for a shell, of the commands that are declared. */
export function formatCompletion(program: AnyCommand, shell: Shell): string {
  return formats[shell](listCommands(program));
}

interface Value {
  name: string;
  /** Undefined where the value is free. */
  words: string[] | undefined;
  isFile: boolean;
}

interface Flag {
  long: string;
  short: string | undefined;
  description: string;
  value: Value | undefined;
}

interface Described {
  name: string;
  description: string;
  flags: Flag[];
  argument: Value | undefined;
}

/** Serve first, with the flags of the program itself, as it is what runs without a command. */
function listCommands(program: AnyCommand): Described[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  return commands.map((command) => {
    const isDefault = command.name() === "serve";
    const options = [...help.visibleOptions(command), ...(isDefault ? program.options : [])];
    const [argument] = command.registeredArguments;
    return {
      name: command.name(),
      description: command.description(),
      flags: options.map(({ flags, long, short, description, argChoices }) => {
        const [, name] = /<(.*)>/.exec(flags) ?? [];
        const value = name === undefined ? undefined : describeValue(name, argChoices);
        return { long: long ?? "", short, description, value };
      }),
      argument:
        command.name() === "help"
          ? describeValue(
              "COMMAND",
              commands.map((other) => other.name()),
            )
          : argument && describeValue(argument.name(), argument.argChoices),
    };
  });
}

function describeValue(name: string, words: string[] | undefined): Value {
  const isFile = name.split("|").some((part) => /^(?:FILE|FOLDER|OUT|DATASET|CHANGES)$/.test(part));
  return { name, words, isFile };
}

/** Works in bash 3.2, too, which macOS has: neither mapfile nor, for a missing compopt, an error. */
function formatBash(commands: Described[]): string {
  const reply = ({ words, isFile }: Value) =>
    isFile ? "files=1" : words ? `words="${words.join(" ")}"` : ":";
  const values = commands.flatMap(({ name, flags }) =>
    flags.flatMap(({ long, value }) => (value ? [`    ${name}:${long}) ${reply(value)} ;;`] : [])),
  );
  const flags = commands.map(
    (command) =>
      `        ${command.name}) words="${command.flags.map(({ long }) => long).join(" ")}" ;;`,
  );
  const positionals = commands.flatMap(({ name, argument }) =>
    argument ? [`        ${name}) ${reply(argument)} ;;`] : [],
  );
  return `# The completion of roadbook for bash; load it with: source <(roadbook completion bash)
_roadbook() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  local command=serve words="" files="" IFS=$' \\t\\n'
  # Bash takes --flag=value apart at the equals sign.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != -* ]]; then command=\${COMP_WORDS[1]}; fi
  case $command:$prev in
${values.join("\n")}
    *)
      if [[ $cur == -* ]]; then
        case $command in
${flags.map((line) => `  ${line}`).join("\n")}
        esac
      elif [[ $COMP_CWORD -eq 1 ]]; then
        words="${commands.map(({ name }) => name).join(" ")}"
      else
        case $command in
${positionals.map((line) => `  ${line}`).join("\n")}
        esac
      fi
      ;;
  esac
  COMPREPLY=()
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _roadbook roadbook
`;
}

function formatZsh(commands: Described[]): string {
  const action = ({ words, isFile }: Value) =>
    isFile ? "_files" : words ? `(${words.join(" ")})` : " ";
  const specs = ({ flags, argument }: Described) => [
    ...flags.flatMap(({ long, short, description, value }) => {
      const text = `[${description.replace(/[\\[\]]/g, "\\$&")}]`;
      if (value) return [`*${long}=${text}:${value.name}:${action(value)}`];
      return [...(short ? [`${short}${text}`] : []), `${long}${text}`];
    }),
    ...(argument ? [`:${argument.name}:${action(argument)}`] : []),
  ];
  const names = commands.map(
    ({ name, description }) => `    ${quotePosix(`${name}:${description.replaceAll(":", "\\:")}`)}`,
  );
  const cases = commands.map((command) => {
    const lines = specs(command).map((spec) => `        ${quotePosix(spec)}`);
    return `    ${command.name})\n      _arguments -S \\\n${lines.join(" \\\n")}\n      ;;`;
  });
  return `#compdef roadbook
# The completion of roadbook for zsh; load it with: source <(roadbook completion zsh)
_roadbook() {
  local command=serve
  local -a commands
  commands=(
${names.join("\n")}
  )
  if [[ $words[2] != -* ]]; then
    if (( CURRENT == 2 )); then
      _describe command commands
      return
    fi
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _roadbook ]]; then
  _roadbook "$@"
else
  compdef _roadbook roadbook
fi
`;
}

function formatFish(commands: Described[]): string {
  const kind = ({ words, isFile }: Value) =>
    isFile ? "-r -F" : words ? `-x -a ${quoteFish(words.join(" "))}` : "-x";
  const lines = commands.flatMap(({ name, description, flags, argument }) => {
    const start = `complete -c roadbook -n '__roadbook_runs ${name}'`;
    return [
      `complete -c roadbook -n __roadbook_is_first -a ${name} -d ${quoteFish(description)}`,
      ...flags.map(({ long, short, description, value }) =>
        [
          start,
          ...(short ? [`-s ${short.slice(1)}`] : []),
          `-l ${long.slice(2)}`,
          ...(value ? [kind(value)] : []),
          `-d ${quoteFish(description)}`,
        ].join(" "),
      ),
      ...(argument?.isFile ? [`${start} -F`] : []),
      ...(argument?.words ? [`${start} ${kind(argument)}`] : []),
    ];
  });
  return `# The completion of roadbook for fish; load it with: roadbook completion fish | source
function __roadbook_is_first
    test (count (commandline -opc)) -eq 1
end
function __roadbook_runs
    set -l typed (commandline -opc)
    if not set -q typed[2]; or string match -q -- '-*' $typed[2]
        test $argv[1] = serve
    else
        test $argv[1] = $typed[2]
    end
end
complete -c roadbook -f
${lines.join("\n")}
`;
}

function quotePosix(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteFish(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
