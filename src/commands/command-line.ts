/** Does what a command line asks for: prints the version or the help, or runs a command. */
import { version } from "../domain/version.ts";
import { commands } from "./commands.ts";

/** Rejects with a {@link UsageError} or with the command's own error, unless it is in JSON. */
export async function runCommandLine(argv: string[]): Promise<void> {
  const [first = "serve", second = ""] = argv;
  if (/^(?:--version|version|-V)$/.test(first)) {
    console.log(`roadbook ${version}`);
    return;
  }
  if (first === "help" && !/^(-|help$|$)/.test(second)) return run(second, ["--help"]);
  if (/^(-h|--help|help)$/.test(first)) {
    const { formatProgramHelp } = await import("./help.ts");
    return console.log(formatProgramHelp());
  }
  if (first.startsWith("-") || (await isPath(first))) return run("serve", argv);
  return run(first, argv.slice(1));
}

/** Whether the first word is a file to serve. No command has a dot or a slash in its name. */
async function isPath(word: string): Promise<boolean> {
  if (Object.hasOwn(commands, word)) return false;
  const { existsSync } = await import("node:fs");
  return /[./\\]/.test(word) || existsSync(word);
}

async function run(name: string, args: string[]): Promise<void> {
  const { runCommand } = await import("./run-command.ts");
  await runCommand(name, args);
}
