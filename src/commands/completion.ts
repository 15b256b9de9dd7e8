/**
 * Completes command lines in shells. Each shell's script asks the executable, which takes 10 ms and
 * knows its commands, their flags, and what values these may have.
 */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";

/** A line for the shell that stands for the names of files, which it completes by itself. */
const FILES = "@files";

/** A possible word, and its description: empty for the value of a flag. */
type Candidate = [word: string, description: string];

/** The separator between the two, if the shell shows descriptions. */
const separators = { bash: "", zsh: ":", fish: "\t" };

/**
 * The lines for a script: the candidates for the last of the words after `roadbook`, each with its
 * description if the shell shows one.
 */
export function formatCandidates(
  program: AnyCommand,
  shell: keyof typeof scripts,
  words: string[],
): string {
  // `--flag=value` is two words; bash has made three of it.
  const typed = words
    .flatMap((word) => /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? word)
    .flatMap((word, at) => (word !== "=" ? word : at === words.length - 1 ? "" : []));
  const current = typed.at(-1) ?? "";
  const separator = separators[shell];
  return listCandidates(program, typed)
    .filter(([word]) => word === FILES || word.startsWith(current))
    .map(([word, text]) => `${word}${separator && text && separator + text}\n`)
    .join("");
}

/** Without a command, `serve` runs. */
function listCandidates(program: AnyCommand, typed: string[]): Candidate[] {
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
    return options.map(({ long = "", description }) => [long, description]);
  }
  if (typed.length === 1 || first === "help") {
    return commands.map((one) => [one.name(), one.description()]);
  }
  const [argument] = command.registeredArguments;
  return argument ? listValues(argument.name(), argument.argChoices) : [];
}

/** The values of a flag or argument with that name in the help; none if any text is valid. */
function listValues(name: string, choices: readonly string[] = []): Candidate[] {
  if (/\b(?:FILE|FOLDER|OUT|DATASET|CHANGES)\b/.test(name)) return [[FILES, ""]];
  return choices.map((word) => [word, ""]);
}

/** The scripts that load the completion into a shell. */
export const scripts = {
  // It works in bash 3.2, too, which macOS has: it has no compopt.
  bash: `# The completion of roadbook for bash; load it with: source <(roadbook completion bash)
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
  zsh: `#compdef roadbook
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
  fish: `# The completion of roadbook for fish; load it with: roadbook completion fish | source
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
};
