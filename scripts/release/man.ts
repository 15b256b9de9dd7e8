/** `bun scripts/release/man.ts` prints the manual page, made from the declared commands. */
import { description, version } from "../../package.json" with { type: "json" };
import type { LoadedCommand } from "../../src/commands/command.ts";
import { loadCommands } from "../../src/commands/command-line.ts";
import {
  describe,
  groupsOf,
  programNotes,
  programRows,
  SUMMARY,
  sentenceOf,
} from "../../src/commands/help.ts";
import { formOf, usageOf, variableOf } from "../../src/settings/setting.ts";

/** The note with this prefix becomes the EXIT STATUS section. */
const EXIT_CODES = "Exit codes: ";

if (import.meta.main) process.stdout.write(await formatManPage(new Date()));

/** Returns the page, with `date` in the footer. */
export async function formatManPage(date: Date): Promise<string> {
  const commands = await loadCommands();
  const isExitCodes = (line: string) => line.startsWith(EXIT_CODES);
  const exitCodes = programNotes.filter(isExitCodes).map((line) => line.slice(EXIT_CODES.length));
  const lines = [
    `.TH ROADBOOK 1 ${date.toISOString().slice(0, 10)} "roadbook ${version}"`,
    ".SH NAME",
    `roadbook \\- ${escapeRoff(description.charAt(0).toLowerCase() + description.slice(1))}`,
    ".SH SYNOPSIS",
    ".B roadbook",
    escapeRoff("[COMMAND] [flags]"),
    ".SH DESCRIPTION",
    escapeRoff(SUMMARY),
    ...paragraphOf(programNotes.filter((line) => !isExitCodes(line))),
    ".SH COMMANDS",
    ...Object.entries(commands).flatMap(([name, command]) => formatCommand(name, command)),
    ".SH FLAGS OF EVERY COMMAND",
    ...programRows.flatMap(([term, help]) => entryOf(term, help)),
    ".SH ENVIRONMENT",
    "A flag overrides its variable, and a variable overrides the default.",
    "For a flag without a value, set the variable to 1 or 0.",
    ...listVariables(Object.values(commands)).flatMap(([variable, term]) =>
      entryOf(variable, `stands for ${term}`),
    ),
    ".SH EXIT STATUS",
    ...exitCodes.map((line) => escapeRoff(line.charAt(0).toUpperCase() + line.slice(1))),
  ];
  return `${lines.join("\n")}\n`;
}

function formatCommand(name: string, command: LoadedCommand): string[] {
  return [
    `.SS "roadbook ${escapeRoff(usageOf(name, command.settings))}"`,
    escapeRoff(sentenceOf(command.summary)),
    ...groupsOf(command).flatMap(([heading, settings]) => [
      ".PP",
      escapeRoff(`${heading}:`),
      ...settings.flatMap((setting) => entryOf(formOf(setting), describe(setting))),
    ]),
    ...(command.notes ?? []).flatMap((note) => paragraphOf([note])),
    ...[".PP", "Examples:", ".PP", ".nf"],
    ...command.examples.map((example) => escapeRoff(`roadbook ${example}`)),
    ".fi",
  ];
}

function paragraphOf(lines: readonly string[]): string[] {
  return [".PP", ...lines.map(escapeRoff)];
}

/** The value of a flag is set in italics. */
function entryOf(name: string, meaning: string): string[] {
  const [, term = "", value] = /^(.*?)(?: ([A-Z]+))?$/.exec(name) ?? [];
  const heading = value ? `.BI "${escapeRoff(term)} " ${value}` : `.B ${escapeRoff(term)}`;
  return [".TP", heading, escapeRoff(sentenceOf(meaning))];
}

/** Returns each variable once, in alphabetical order. Several commands can share a variable. */
function listVariables(commands: LoadedCommand[]): [string, string][] {
  const settings = commands.flatMap(({ settings }) => Object.values(settings));
  const terms = new Map(settings.map((setting) => [variableOf(setting) ?? "", setting.name]));
  terms.delete("");
  return [...terms].sort(([a], [b]) => (a < b ? -1 : 1));
}

function escapeRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^[.']/, "\\&$&");
}
