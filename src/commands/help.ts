/** Formats the help of the program and of each command, in at most 80 columns. */

import { boolean } from "../setting-kinds.ts";
import { isFlag, type Setting, termOf, variableOf } from "../settings.ts";
import { type Command, commands } from "./commands.ts";

export const SUMMARY = "Read-only API server for driver profiles, achievements and name search.";
export const programNotes = [
  "Without a command, roadbook serves the bundled data on http://127.0.0.1:3000.",
  "For the flags of a command and their defaults, run roadbook COMMAND --help.",
  "Exit codes: 0 success, 1 failure, 2 usage error.",
];
const helpRow: Row = ["-h, --help", "print this help"];
export const programRows: Row[] = [["-V, --version", "print the version"], helpRow];

/** A term and what it means. */
type Row = readonly [string, string];

/** Describes a setting and its default. */
export function describe({ help, default: text }: Pick<Setting, "help" | "default">): string {
  return text === undefined ? help : `${help} (default: ${text})`;
}

/** Returns the settings of a command by the headings of the help. */
export function groupsOf({ settings }: Command): [string, Setting[]][] {
  return [...Map.groupBy(Object.values(settings), ({ group }) => group)];
}

/** Returns a sentence from text that begins with a small letter and has no full stop. */
export function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function formatProgramHelp(): string {
  const names = Object.entries(commands).map(([name, { usage, summary }]): Row => {
    return [`${name} ${usage.replace(/ ?\[flags\]$/, "")}`.trimEnd(), summary];
  });
  names.push(["help [COMMAND]", "print help for a command"]);
  const tables: [string, Row[]][] = [
    ["Help", programRows],
    ["Commands", names],
  ];
  return formatHelp("[COMMAND] [flags]", SUMMARY, tables, [programNotes]);
}

export function formatCommandHelp(name: string, command: Command): string {
  const { usage, summary } = command;
  const tables = groupsOf(command).map(([heading, group]): [string, Row[]] => [
    heading,
    group.map((setting) => [setting.name, describe(setting)]),
  ]);
  tables.push(["Help", [helpRow]]);
  const paragraphs = [...notesOf(command).map((note) => [note]), describeVariables(command)];
  return formatHelp(`${name} ${usage}`, sentenceOf(summary), tables, paragraphs);
}

/** Returns the paragraphs that follow the flags, without line breaks. */
export function notesOf({ settings, notes = [] }: Command): string[] {
  const lists = Object.values(settings).filter(({ list }) => list);
  if (lists.length === 0) return [...notes];
  const terms = new Intl.ListFormat("en-GB").format(lists.map(termOf));
  const groups = Map.groupBy(lists, ({ list }) => (list === "," ? "commas" : "semicolons"));
  const separators = [...groups].map(([name, group]) => {
    return `${name} (${group.map(variableOf).join(", ")})`;
  });
  return [
    `If a flag is repeated, the last value wins, except that ${terms} keep every value. In an environment variable, separate multiple values with ${separators.join(" or ")}.`,
    ...notes,
  ];
}

/** Returns the lines of a paragraph; empty if the command has no flags. */
function describeVariables({ settings }: Command): string[] {
  const flags = Object.values(settings).filter(isFlag);
  const [first] = flags;
  if (!first) return [];
  const lines = [
    "Every flag can also be set by an environment variable; the flag wins.",
    `For example, ${variableOf(first)} sets ${termOf(first)}.`,
  ];
  if (flags.some(({ kind }) => kind === boolean)) {
    lines.push("For a flag that takes no value, set the variable to 1 or 0.");
  }
  return lines;
}

function formatHelp(
  usage: string,
  summary: string,
  tables: [string, Row[]][],
  notes: string[][],
): string {
  const width = Math.min(process.stdout.columns || 80, 80);
  const indent = 4 + Math.max(...tables.flatMap(([, rows]) => rows.map(([term]) => term.length)));
  const formatRow = ([term, meaning]: Row) => {
    return (
      `  ${term}`.padEnd(indent) + wrap(meaning, width - indent).join(`\n${" ".repeat(indent)}`)
    );
  };
  const blocks = [
    [`Usage: roadbook ${usage}`],
    wrap(summary, width),
    ...tables.map(([heading, rows]) => [`${heading}:`, ...rows.map(formatRow)]),
    ...notes.map((lines) => lines.flatMap((line) => wrap(line, width))),
  ];
  const texts = blocks.map((lines) => lines.join("\n")).filter((text) => text !== "");
  return `${texts.join("\n\n")}\n`;
}

/** Breaks text into lines of at most `width` columns, if its words allow that. */
function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= width || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
