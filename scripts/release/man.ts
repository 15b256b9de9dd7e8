/**
 * Formats the roadbook(1) manual page from the declaration of the command line, without writing a
 * file. `bun scripts/release/man.ts` prints the page.
 */
import type { EventEmitter } from "node:events";
import { description, version } from "../../package.json" with { type: "json" };
import { createProgram } from "../../src/commands/command-line.ts";
import { variableOf } from "../../src/commands/environment.ts";

/** The help line with this prefix becomes the EXIT STATUS section. */
const EXIT_CODES = "Exit codes: ";

if (import.meta.main) process.stdout.write(formatManPage(new Date()));

type AnyCommand = ReturnType<typeof createProgram>;
type AnyOption = AnyCommand["options"][number];

/** Returns the page in roff, with `date` in the footer. */
export function formatManPage(date: Date): string {
  const program = createProgram({});
  const help = program.createHelp();
  const notes = notesOf(program);
  const lines = [
    `.TH ROADBOOK 1 ${date.toISOString().slice(0, 10)} "roadbook ${version}"`,
    ".SH NAME",
    `roadbook \\- ${escapeRoff(description.charAt(0).toLowerCase() + description.slice(1))}`,
    ".SH SYNOPSIS",
    ".B roadbook",
    escapeRoff(program.usage()),
    ".SH DESCRIPTION",
    `${escapeRoff(program.description())}.`,
    ...notes.filter((line) => !line.startsWith(EXIT_CODES)),
    ".SH COMMANDS",
    ...program.commands.flatMap((command) => [
      `.SS "roadbook ${escapeRoff(`${command.name()} ${command.usage()}`.trimEnd())}"`,
      `${sentenceOf(escapeRoff(command.description()))}.`,
      ...command.registeredArguments.flatMap((argument) =>
        entryOf(escapeRoff(argument.name()), argument.description),
      ),
      ...groupsOf(visibleOptionsOf(command)).flatMap(([group, options]) => [
        ...(group === "" ? [] : [".PP", escapeRoff(group)]),
        ...options.flatMap((option) => entryOf(termOf(option), help.optionDescription(option))),
      ]),
      ...notesOf(command),
    ]),
    ".SH FLAGS OF EVERY COMMAND",
    ...help
      .visibleOptions(program)
      .flatMap((option) => entryOf(termOf(option), help.optionDescription(option))),
    ".SH ENVIRONMENT",
    "A flag overrides its variable, and a variable overrides the default.",
    "For a flag without a value, set the variable to 1 or 0.",
    ...variablesOf(program).flatMap(([variable, flag]) =>
      entryOf(`.B ${variable}`, `stands for ${flag}`),
    ),
    ".SH EXIT STATUS",
    ...notes.flatMap((line) =>
      line.startsWith(EXIT_CODES) ? sentenceOf(line.slice(EXIT_CODES.length)) : [],
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the paragraphs that follow the options in a command's help. */
function notesOf(command: AnyCommand): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  // A command is an event emitter, although its types do not say so.
  const emitter = command as unknown as EventEmitter;
  if (!emitter.emit("afterHelp", { error: false, command, write })) return [];
  return `\n${text.trim()}`.split("\n").map((line) => (line === "" ? ".PP" : escapeRoff(line)));
}

function entryOf(term: string, text: string): string[] {
  return [".TP", term, sentenceOf(`${escapeRoff(text)}.`)];
}

function termOf(option: AnyOption): string {
  const [, names = "", value] = /^(.*?)(?: <(.*)>)?$/.exec(option.flags) ?? [];
  return value === undefined
    ? `.B ${escapeRoff(names)}`
    : `.BI "${escapeRoff(names)} " ${escapeRoff(value)}`;
}

/** Returns all flags of a command, except former names that still work. */
function visibleOptionsOf(command: AnyCommand): AnyOption[] {
  return command.options.filter((option) => !option.hidden);
}

/** Groups flags by heading, in declaration order. */
function groupsOf(options: readonly AnyOption[]): [string, AnyOption[]][] {
  return [...Map.groupBy(options, (option) => option.helpGroupHeading ?? "")];
}

/** Returns each variable once, in alphabetical order. Several commands can share a variable. */
function variablesOf(program: AnyCommand): [string, string][] {
  const options = program.commands.flatMap(visibleOptionsOf);
  const flags = new Map(options.map((option) => [variableOf(option), option.long ?? ""]));
  return [...flags].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Escapes roff syntax: backslashes, hyphens, quotes, and a leading dot or apostrophe. */
function escapeRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^[.']/, "\\&$&");
}
