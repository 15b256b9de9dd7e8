/** The help texts, made of the table in config.ts. */
import {
  type Command,
  type CommandName,
  commands,
  type Flag,
  flags,
  variableOf,
} from "./config.ts";

/** The help of one command, or of the whole. */
export function helpText(name?: CommandName): string {
  return name ? commandHelp(name, commands[name]) : programHelp();
}

function programHelp(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, about }]) => [`  roadbook ${name} ${usage}`.trimEnd(), about] as const,
  );
  return `Roadbook serves public driver profiles, achievements and name search from one file.

${columns(lines)}

  roadbook COMMAND --help    the flags of a command
  roadbook --version         which version this is

Without a command, roadbook serves the bundled demo on http://127.0.0.1:3000.
`;
}

function commandHelp(name: CommandName, command: Command): string {
  const lines = command.flags.map((flag) => {
    const { value = "", about, fallback }: Flag = flags[flag];
    return [
      `  --${flag} ${value}`.trimEnd(),
      about + (fallback ? ` (default: ${fallback})` : ""),
    ] as const;
  });
  const [flag] = command.flags;
  const environment = flag
    ? `\nEach flag has an environment variable that is used without it: --${flag} is ${variableOf(flag)}.\n`
    : "";
  return `${`roadbook ${name} ${command.usage}`.trimEnd()}: ${command.about}
${lines.length > 0 ? `\n${columns(lines)}\n` : ""}${environment}`;
}

function columns(lines: (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length)) + 3;
  return lines.map(([left, right]) => left.padEnd(width) + right).join("\n");
}
