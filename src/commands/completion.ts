/** Completes command lines in shells: the names of commands, their flags and choices. */
import { isFlag, type Setting, type Settings, termOf } from "../settings/declare.ts";

/** Scripts that ask this program for the words. Without any, the shell completes file names. */
export const completionScripts = {
  bash: `_roadbook() { mapfile -t COMPREPLY < <("$1" completion bash "\${COMP_LINE:0:COMP_POINT}"); }
complete -o default -F _roadbook roadbook
`,
  zsh: `#compdef roadbook
local -a list=("\${(f)$("$words[1]" completion zsh "\${words[1,CURRENT]}")}")
if [[ -n $list ]]; then compadd -- $list; else _files; fi
`,
  fish: "complete -c roadbook -a '(roadbook completion fish (commandline -cp | string collect))'\n",
};

/** Lists the words, one per line, that may end a command line, which begins with the program. */
export function complete(line: string, commands: Record<string, { settings: Settings }>): string {
  const [current = "", previous = "", ...before] = line.split(/\s+/).slice(1).reverse();
  const [first = previous] = before.slice(-1);
  const { [first]: command = commands.serve } = commands;
  const all = Object.values<Setting>(command?.settings ?? {});

  const flags = [...all.filter(isFlag).map(termOf), "--help"];
  const names = [...Object.keys(commands), "help", "--version"];
  const words = all.flatMap((setting) => (isFlag(setting) ? [] : (setting.kind.choices ?? [])));
  const others = first === "" || first === "help" ? names : words;

  const valued = all.find((setting) => termOf(setting) === previous && !setting.kind.isSwitch);
  const expected = valued ? (valued.kind.choices ?? []) : [...flags, ...others];

  // Flags are listed only if one was begun, because a file may stand there, too.
  const fits = (word: string) => word.startsWith(current) && (current || !word.startsWith("-"));
  return expected.filter(fits).join("\n");
}
