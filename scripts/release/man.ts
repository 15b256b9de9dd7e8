/**
 * Formats the manual page roadbook(1) from the declarations of the command line. Writes no file.
 * `bun scripts/release/man.ts` prints it.
 */
import type { EventEmitter } from "node:events";
import { description, version } from "../../package.json" with { type: "json" };
import { createProgram } from "../../src/commands/command-line.ts";
import { variableOf } from "../../src/commands/environment.ts";

/** What the help says of them is the page's section EXIT STATUS. */
const EXIT_CODES = "Exit codes: ";

if (import.meta.main) process.stdout.write(formatManPage(new Date()));

type AnyCommand = ReturnType<typeof createProgram>;
type AnyOption = AnyCommand["options"][number];

/** The page in roff; `date` is the one in its foot. */
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
    "A flag goes before its variable, and that before the default.",
    "For a flag without a value, the variable is 1 or 0.",
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

/** What the help of a command closes with, in paragraphs. */
function notesOf(command: AnyCommand): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  // Its types do not say that a command is an emitter, and of what.
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

/** All flags except former names, which still work. */
function visibleOptionsOf(command: AnyCommand): AnyOption[] {
  return command.options.filter((option) => !option.hidden);
}

/** The flags in the order of the declarations, under their headings. */
function groupsOf(options: readonly AnyOption[]): [string, AnyOption[]][] {
  return [...Map.groupBy(options, (option) => option.helpGroupHeading ?? "")];
}

/** Each variable once, in the order of the alphabet: commands share some. */
function variablesOf(program: AnyCommand): [string, string][] {
  const options = program.commands.flatMap(visibleOptionsOf);
  const flags = new Map(options.map((option) => [variableOf(option), option.long ?? ""]));
  return [...flags].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** What roff would read as its own: backslashes, hyphens that are typed, a dot or quote that starts a line. */
function escapeRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^[.']/, "\\&$&");
}
