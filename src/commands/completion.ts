/** Completes command lines in shells: the names of commands, their flags and choices. */
import { declare, isFlag, type Setting } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { type Commands, command } from "./command.ts";
import { writeStdout } from "./terminal.ts";

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

export const completionCommand = command({
  settings: declare("Flags", {
    shell: {
      name: "bash|zsh|fish",
      type: types.oneOf("SHELL", ["bash", "zsh", "fish"]),
      required: true,
      help: "the shell",
    },
    line: { name: "LINE", type: types.text("LINE"), help: "complete this command line instead" },
  }),
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/roadbook",
    "completion zsh > ~/.zfunc/_roadbook",
    "completion fish > ~/.config/fish/completions/roadbook.fish",
  ],
  async run({ shell, line }, commands) {
    writeStdout(line === undefined ? completionScripts[shell] : await complete(line, commands));
  },
});

/** Lists the words, one per line, that may end a command line, which begins with the program. */
async function complete(line: string, commands: Commands): Promise<string> {
  const [current = "", previous = "", ...before] = line.split(/\s+/).slice(1).reverse();
  const [first = previous] = before.slice(-1);
  const name = Object.hasOwn(commands, first) ? first : "serve";
  const command = await commands[name]?.load();
  const all = Object.values<Setting>(command?.settings ?? {});

  const flags = [...all.filter(isFlag).map(({ name }) => name), "--help"];
  const names = [...Object.keys(commands), "help", "--version"];
  const words = all.flatMap((setting) => (isFlag(setting) ? [] : (setting.type.choices ?? [])));
  const others = first === "" || first === "help" ? names : words;

  const valued = all.find(({ name, type }) => name === previous && !type.isSwitch);
  const expected = valued ? (valued.type.choices ?? []) : [...flags, ...others];

  // Flags are listed only if one was begun, because a file may stand there, too.
  const fits = (word: string) => word.startsWith(current) && (current || !word.startsWith("-"));
  return expected.filter(fits).join("\n");
}
