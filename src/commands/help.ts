/** Formats the help of the program and of each command, in at most 80 columns. */
import { paragraph } from "../domain/text.ts";
import { DEFAULT_ORIGIN } from "../server/address.ts";
import { formOf, isFlag, type Setting, usageOf } from "../settings/setting.ts";
import type { Command, LoadedCommand } from "./command.ts";

type HelpRow = [term: string, help: string];
type HelpTable = [heading: string, rows: HelpRow[]];

const COLUMNS = 80;
export const SUMMARY = "Read-only API server for driver profiles, achievements and name search.";
export const programNotes = [
  paragraph(
    `Without a command, roadbook serves the bundled data on ${DEFAULT_ORIGIN}, and roadbook FILE`,
    "serves a snapshot, a dataset or CSV files.",
  ),
  "For the arguments and flags of a command, run roadbook help COMMAND.",
  "Exit codes: 0 success, 1 failure, 2 usage error.",
];
const flagNote = paragraph(
  "Every flag can also be set by an environment variable, such as ROADBOOK_PORT for --port of serve;",
  "the flag wins. For a flag that takes no value, set the variable to 1 or 0.",
);
const helpRow: HelpRow = ["-h, --help", "print this help"];
export const programRows: HelpRow[] = [["--version", "print the version"], helpRow];

/** Describes a setting, the variable of an argument, and the default. */
export function describe({
  help,
  variable,
  default: text,
}: Pick<Setting, "help" | "variable" | "default">): string {
  if (variable !== undefined) return `${help} (variable: ${variable})`;
  return text === undefined ? help : `${help} (default: ${text})`;
}

/** Groups a command's settings by their headings in the help. */
export function groupsOf({ settings }: Command): [string, Setting[]][] {
  return [...Map.groupBy(Object.values(settings), ({ group }) => group)];
}

/** Capitalizes the text of a table and adds a full stop, which makes it a sentence. */
export const sentenceOf = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export function formatProgramHelp(commands: Record<string, { summary: string }>): string {
  const rows = Object.entries(commands).map(([name, { summary }]): HelpRow => [name, summary]);
  rows.push(["help [COMMAND]", "print this help, or that of a command"]);
  const tables: HelpTable[] = [
    ["Help", programRows],
    ["Commands", rows],
  ];
  return formatHelp("[COMMAND] [flags]", SUMMARY, tables, [programNotes.join("\n")]);
}

export function formatCommandHelp(name: string, command: LoadedCommand): string {
  const { summary, notes = [], examples, settings } = command;
  const hasFlags = Object.values(settings).some(isFlag);
  const tables = groupsOf(command).map(([heading, settings]): HelpTable => {
    return [heading, settings.map((setting) => [formOf(setting), describe(setting)])];
  });
  tables.push(["Help", [helpRow]]);
  const all = hasFlags ? [...notes, flagNote] : notes;
  const help = formatHelp(usageOf(name, settings), sentenceOf(summary), tables, all);
  const lines = examples.map((example) => `  roadbook ${example}`);
  return [help, "", "Examples:", ...lines].join("\n");
}

function formatHelp(usage: string, summary: string, tables: HelpTable[], notes: readonly string[]) {
  const indent = 4 + Math.max(...tables.flatMap(([, rows]) => rows.map(([term]) => term.length)));
  const formatRow = ([term, help]: HelpRow) =>
    `  ${term}`.padEnd(indent) + wrap(help, COLUMNS - indent, " ".repeat(indent));
  const blocks = [
    `Usage: roadbook ${usage}`,
    wrap(summary, COLUMNS),
    ...tables.map(([heading, rows]) => [`${heading}:`, ...rows.map(formatRow)].join("\n")),
    ...notes.map((note) => wrap(note, COLUMNS)),
  ];
  return blocks.join("\n\n");
}

/** Breaks text into lines of at most `width` columns, if its words allow that. */
function wrap(text: string, width: number, indent = ""): string {
  const lines = text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)|\\S+`, "g")) ?? [];
  return lines.join(`\n${indent}`);
}
