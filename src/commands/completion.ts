/**
 * Completes command lines in shells. Each shell's script asks the executable, which takes 10 ms and
 * knows its commands, their flags, and what values these may have.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";

/** A line for the shell that stands for the names of files, which it completes by itself. */
const FILES = "@files" as const;

/**
 * The lines that a script wants to have: what the last of the words after `roadbook` may be, each
 * with its description where the shell shows one.
 */
export function formatCandidates(program: AnyCommand, shell: Shell, words: string[]): string {
  const { separator } = shells[shell];
  const typed = splitAtEqualsSigns(words);
  const current = typed.at(-1) ?? "";
  const found = listCandidates(program, typed);
  if (found === FILES) return `${FILES}\n`;
  return found
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, description }) => {
      return `${word}${separator && description ? separator + description : ""}\n`;
    })
    .join("");
}

export function formatScript(shell: Shell): string {
  return shells[shell].script;
}

interface Candidate {
  word: string;
  /** Empty for the values of a flag. */
  description: string;
}

/** `--flag=value` as two words; bash has made three of it. */
function splitAtEqualsSigns(words: string[]): string[] {
  return words
    .flatMap((word) => /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? word)
    .flatMap((word, at) => (word !== "=" ? word : at === words.length - 1 ? "" : []));
}

/** Serve is what runs without a command. */
function listCandidates(program: AnyCommand, typed: string[]): Candidate[] | typeof FILES {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const [first = "", current = first] = [typed[0], typed.at(-1)];
  const isNamed = typed.length > 1 && !first.startsWith("-");
  const command = commands.find((one) => one.name() === (isNamed ? first : "serve"));
  if (!command) return [];
  const options = [...help.visibleOptions(command), ...(isNamed ? [] : program.options)];
  const option = options.find(({ long }) => long === typed.at(-2));
  if (option?.required) return listValues(option.flags, option.argChoices);
  if (current.startsWith("-")) {
    return options.flatMap(({ long = "", description }) => ({ word: long, description }));
  }
  const names = commands.map((one) => ({ word: one.name(), description: one.description() }));
  if (typed.length === 1 || first === "help") return names;
  const [argument] = command.registeredArguments;
  return argument ? listValues(argument.name(), argument.argChoices) : [];
}

/** The values of what the help calls by that name; none where they are free. */
function listValues(name: string, choices: readonly string[] = []): Candidate[] | typeof FILES {
  if (/\b(?:FILE|FOLDER|OUT|DATASET|CHANGES)\b/.test(name)) return FILES;
  return choices.map((word) => ({ word, description: "" }));
}

export type Shell = keyof typeof shells;

const shells = {
  bash: {
    separator: undefined,
    // Works in bash 3.2, too, which macOS has: it has no compopt.
    script: `# The completion of roadbook for bash; load it with: source <(roadbook completion bash)
_roadbook() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${COMPREPLY[0]} == ${FILES} ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "\${current#=}"))
  fi
}
complete -F _roadbook roadbook
`,
  },
  zsh: {
    separator: ":",
    script: `#compdef roadbook
# The completion of roadbook for zsh; load it with: source <(roadbook completion zsh)
_roadbook() {
  local -a found=("\${(@f)$($words[1] completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compset -P '--*='
  if [[ $found[1] == ${FILES} ]]; then
    _files
  elif [[ -n $found[1] ]]; then
    _describe roadbook found
  fi
}
if [[ $funcstack[1] == _roadbook ]]; then
  _roadbook "$@"
else
  compdef _roadbook roadbook
fi
`,
  },
  fish: {
    separator: "\t",
    script: `# The completion of roadbook for fish; load it with: roadbook completion fish | source
function __roadbook_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($typed[1] completion fish -- $typed[2..] $current 2>/dev/null)
    # A value may be in one word with its flag.
    set -l flag (string match -r -- '^--[^=]+=|^' $current)
    if test "$found" = ${FILES}
        set found (__fish_complete_path (string replace -- "$flag" "" $current))
    end
    printf '%s\\n' $flag$found
end
complete -c roadbook -f -a '(__roadbook_complete)'
`,
  },
};
