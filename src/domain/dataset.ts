/**
 * One line of a dataset: its shapes by `type`, and the reading of a line into one of them or into
 * what is wrong with it. Whether ids repeat or references hold is for who sees all the lines.
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { AchievementLine } from "./achievement.ts";
import { CompanyLine } from "./company.ts";
import { countMembers, listMembers } from "./json-members.ts";
import { RoleLine } from "./role.ts";
import { Count, Id } from "./schema.ts";
import { PrivateUserLine, PublicUserLine } from "./user.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

/** The last line, if it is there: `lines` before it are not blank. */
export const EndLine = Type.Object(
  { type: Type.Literal("end"), lines: Count },
  { additionalProperties: false },
);
export type EndLine = Static<typeof EndLine>;

/** In a change file: what has that id goes. */
export const DeletionLine = Type.Object(
  {
    type: Type.Union(
      (["role", "achievement", "company", "user"] as const).map((type) => Type.Literal(type)),
    ),
    id: Id,
    deleted: Type.Literal(true, { description: "true" }),
  },
  { additionalProperties: false },
);
export type DeletionLine = Static<typeof DeletionLine>;

/** A line of a change file: it replaces what has its id, or adds it, or deletes it. */
export type ChangeLine = DatasetLine | DeletionLine;

/** What is wrong with one field; `field` is empty when it is the line as a whole. */
export interface ValidationError {
  field: string;
  reason: string;
}

/** A line may be wrong in a million fields; this many are reported. */
const MAX_ERRORS = 20;
const MAX_FIELD_LENGTH = 80;

const readers = {
  role: compile(RoleLine),
  achievement: compile(AchievementLine),
  company: compile(CompanyLine),
  end: compile(EndLine),
};
const otherTypes = Object.keys(readers);
const deletable: unknown[] = ["role", "achievement", "company", "user"];
const readDeletion = compile(DeletionLine);
const readPublicUser = compile(PublicUserLine);
const readPrivateUser = compile(PrivateUserLine);

/** The line's object, or a list of at least one error. Blank lines are the caller's to skip. */
export function parseLine(text: string): DatasetLine | EndLine | ValidationError[] {
  return parse(text, readLine);
}

/** The same for a line of a change file. */
export function parseChange(text: string): ChangeLine | EndLine | ValidationError[] {
  return parse(text, (value) =>
    deletable.includes(value.type) && "deleted" in value ? readDeletion(value) : readLine(value),
  );
}

/** The lines, and the end line after them. */
export function* withEndLine(lines: Iterable<string>): Generator<string> {
  let count = 0;
  for (const line of lines) {
    count++;
    yield line;
  }
  yield JSON.stringify({ type: "end", lines: count } satisfies EndLine);
}

/** Whether a line with errors was to be the end line. */
export function isMeantAsEnd(text: string): boolean {
  for (const { name, depth, valueAt } of listMembers(text)) {
    if (depth === 1 && name === "type") return text.startsWith('"end"', valueAt);
  }
  return false;
}

/**
 * The users that a line with errors may be about without saying clearly that they are public: what
 * else is known of them is better hidden. A line that is no JSON counts as far as it can be read.
 */
export function listUsersHiddenBy(text: string): number[] {
  const ids: number[] = [];
  let isUser = false;
  let isPublic = false;
  let isPrivate = false;
  for (const { name, depth, valueAt } of listMembers(text)) {
    if (depth !== 1) continue;
    const is = (value: string) => text.startsWith(value, valueAt);
    if (name === "type" && !otherTypes.some((type) => is(`"${type}"`))) isUser = true;
    if (name === "id") {
      const [, number] = /^"?([\d.eE+]+)/.exec(text.slice(valueAt, valueAt + 24)) ?? [];
      if (Number.isSafeInteger(Number(number))) ids.push(Number(number));
    }
    if (name === "public") {
      isUser = true;
      if (is("true")) isPublic = true;
      else isPrivate = true;
    }
  }
  return isUser && (isPrivate || !isPublic) ? ids : [];
}

function parse<Line extends object>(
  text: string,
  read: (value: Record<string, unknown>) => Line | ValidationError[],
): Line | ValidationError[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ field: "", reason: "is not valid JSON" }];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ field: "", reason: "must be a JSON object" }];
  }
  const line = read(value as Record<string, unknown>);
  if (!Array.isArray(line) && countMembers(text) === countKeys(line)) return line;
  const errors = new Map<string, string>();
  for (const { field, reason } of [...listRepeated(text), ...(Array.isArray(line) ? line : [])]) {
    if (!errors.has(field)) errors.set(field, reason);
  }
  return [...errors]
    .slice(0, MAX_ERRORS)
    .map(([field, reason]) => ({ field: printable(field), reason }));
}

/** How many members the objects in a valid line have; fewer than its text when a name repeats. */
function countKeys(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countKeys(item);
    return count;
  }
  const members = value as Record<string, unknown>;
  // Of a million lines Object.values, which makes a list of each object's, takes 0.3 s longer.
  for (const name in members) {
    const item = members[name];
    count++;
    if (typeof item === "object" && item !== null) count += countKeys(item);
  }
  return count;
}

function listRepeated(text: string): ValidationError[] {
  const errors: ValidationError[] = [];
  for (const { path, isRepeated } of listMembers(text)) {
    if (isRepeated) errors.push({ field: path, reason: "appears more than once" });
    if (errors.length === MAX_ERRORS) break;
  }
  return errors;
}

function readLine(value: Record<string, unknown>): DatasetLine | EndLine | ValidationError[] {
  const { type, public: isPublic } = value;
  if (type === "role" || type === "achievement" || type === "company" || type === "end") {
    return readers[type](value);
  }
  if (type !== "user") {
    const reason = 'must be "role", "achievement", "company", "user" or "end"';
    return [{ field: "type", reason }];
  }
  if (isPublic === true) {
    const line = readPublicUser(value);
    return Array.isArray(line) ? line : (findRepeatedId(line) ?? line);
  }
  if (isPublic === false) return readPrivateUser(value);
  return [
    { field: "public", reason: isPublic === undefined ? "is missing" : "must be true or false" },
  ];
}

/** The roles and achievements that a user has twice. */
function findRepeatedId({
  roles = [],
  achievements = [],
}: PublicUserLine): ValidationError[] | undefined {
  if (isAscending(roles, (id) => id) && isAscending(achievements, ({ id }) => id)) return undefined;
  const errors = [
    ...listRepeatedIds("role", roles, (index) => `roles[${index}]`),
    ...listRepeatedIds(
      "achievement",
      achievements.map(({ id }) => id),
      (index) => `achievements[${index}].id`,
    ),
  ];
  return errors.length > 0 ? errors : undefined;
}

/** What is written in the order of its ids, as most is, repeats none. */
function isAscending<Item>(items: Item[], idOf: (item: Item) => number): boolean {
  let last = 0;
  for (const item of items) {
    const id = idOf(item);
    if (id <= last) return false;
    last = id;
  }
  return true;
}

function listRepeatedIds(
  type: string,
  ids: number[],
  fieldOf: (index: number) => string,
): ValidationError[] {
  const seen = new Set<number>();
  return ids.flatMap((id, index) => {
    const isNew = seen.size < seen.add(id).size;
    return isNew ? [] : [{ field: fieldOf(index), reason: `${type} ${id} is there already` }];
  });
}

function compile<T extends TObject>(schema: T): (value: unknown) => Static<T> | ValidationError[] {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return value;
    const errors: ValidationError[] = [];
    for (const error of compiled.Errors(value)) {
      errors.push(...describe(error));
      // One field may have two errors, of which the first is reported.
      if (errors.length >= 2 * MAX_ERRORS) break;
    }
    return errors;
  };
}

/** A union names no field of its branches, so the branch that is an object speaks for it. */
function* describe(error: ValueError): Generator<ValidationError> {
  const field = error.path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  if (error.type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    yield { field, reason: "is not a known field" };
  } else if (
    error.type === ValueErrorType.Union &&
    error.schema.anyOf[0].type === "object" &&
    typeof error.value === "object"
  ) {
    for (const inner of error.errors[0] ?? []) yield* describe(inner);
  } else yield { field, reason: `must be ${error.schema.description ?? "of the right shape"}` };
}

/** A field's name is whatever the line says: cut, and without what a terminal would act on. */
function printable(field: string): string {
  const short = field.length > MAX_FIELD_LENGTH ? `${field.slice(0, MAX_FIELD_LENGTH)}…` : field;
  return short
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}
