/**
 * One line of a dataset: its shapes by `type`, and the reading of a line into one of them or into
 * what is wrong with it. Whether ids repeat or references hold is for who sees all the lines.
 */
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import { AchievementLine } from "./achievement.ts";
import { CompanyLine } from "./company.ts";
import { countMembers, listMembers, type Member } from "./json-members.ts";
import { RoleLine } from "./role.ts";
import { Count, closed, Id } from "./schema.ts";
import { optionalFields, PrivateUserLine, PublicUserLine } from "./user.ts";
import { describe, describeText, mustBe, printable, type ValidationError } from "./validation.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

const EndLine = closed({ type: Type.Literal("end"), lines: Count });
/** The last line, if it is there: `lines` before it are not blank. */
export type EndLine = Static<typeof EndLine>;

const deletable = ["role", "achievement", "company", "user"] as const;

const DeletionLine = closed({
  type: Type.Union(deletable.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
/** In a change file: what has that id goes. */
export type DeletionLine = Static<typeof DeletionLine>;

/** A line of a change file: it replaces what has its id, or adds it, or deletes it. */
export type ChangeLine = DatasetLine | DeletionLine;

/** A line may be wrong in a million fields; this many are reported. */
const MAX_ERRORS = 20;

const shapes = {
  role: TypeCompiler.Compile(RoleLine),
  achievement: TypeCompiler.Compile(AchievementLine),
  company: TypeCompiler.Compile(CompanyLine),
  publicUser: TypeCompiler.Compile(PublicUserLine),
  privateUser: TypeCompiler.Compile(PrivateUserLine),
  end: TypeCompiler.Compile(EndLine),
  deletion: TypeCompiler.Compile(DeletionLine),
};
const otherTypes = ["role", "achievement", "company", "end"] as const;

interface Shape<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): Iterable<ValueError>;
}

/**
 * The lines as JSON Schema 2020-12: one line of a dataset, and under `$defs` one of a change file. What
 * no schema can say stays with the import: that ids come once, references lead somewhere, and the end
 * line is the last.
 */
export function datasetSchema(): object {
  const $defs = Object.entries(shapes).map(([name, shape]) => [name, shape.Schema()]);
  const anyOf = Object.keys(shapes).map((name) => ({ $ref: `#/$defs/${name}` }));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of a Roadbook dataset",
    description: "A line of a change file is one of these or a deletion: see $defs/change.",
    anyOf: anyOf.slice(0, -1),
    $defs: { ...Object.fromEntries($defs), change: { anyOf } },
  };
}

/** The line's object, or a list of at least one error. Blank lines are the caller's to skip. */
export function parseLine(text: string): DatasetLine | EndLine | ValidationError[] {
  return parse(text, shapeOf);
}

/** The same for a line of a change file. */
export function parseChange(text: string): ChangeLine | EndLine | ValidationError[] {
  return parse<ChangeLine | EndLine>(text, (value) =>
    "deleted" in value && deletable.some((type) => type === value.type)
      ? shapes.deletion
      : shapeOf(value),
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

/**
 * The public user in a line whose only errors are in optional fields, without these, and the errors;
 * undefined for any other line.
 */
export function withoutWrongFields(
  text: string,
): { line: PublicUserLine; lost: ValidationError[] } | undefined {
  const errors = parseLine(text);
  if (!Array.isArray(errors)) {
    return "public" in errors && errors.public ? { line: errors, lost: [] } : undefined;
  }
  const isOptional = (name: string) => optionalFields.some((field) => field === name);
  const wrong = errors.map(({ field }) => field.replace(/[.[].*/s, ""));
  if (!wrong.every(isOptional)) return undefined;
  // More members than are reported may come twice, and JSON.parse takes the last one.
  const isTwice = ({ depth, isRepeated, name }: Member) =>
    depth === 1 && isRepeated && !isOptional(name);
  if (listMembers(text).some(isTwice)) return undefined;
  const value: Record<string, unknown> = JSON.parse(text);
  if (!wrong.some((name) => name in value)) return undefined;
  for (const name of wrong) delete value[name];
  // A list may repeat ids, which shows only when all shapes are right.
  const rest = withoutWrongFields(JSON.stringify(value));
  return rest && { line: rest.line, lost: [...errors, ...rest.lost] };
}

function parse<Parsed extends ChangeLine | EndLine>(
  text: string,
  shapeFor: (value: Record<string, unknown>) => Shape<Parsed> | ValidationError,
): Parsed | ValidationError[] {
  let value: Record<string, unknown> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return [describeText(text)];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ field: "", reason: "must be a JSON object" }];
  }
  const shape = shapeFor(value);
  let errors: Iterable<ValidationError>;
  if ("reason" in shape) errors = [shape];
  else if (shape.Check(value)) {
    const repeated = listRepeatedIds(value);
    if (repeated.length === 0 && countMembers(text) === countKeys(value)) return value;
    errors = repeated;
  } else {
    // One field may have two errors, of which the first is reported.
    const isPrivate = value.type === "user" && value.public !== true;
    errors = Iterator.from(shape.Errors(value))
      .flatMap((error) => describe(error, text, isPrivate))
      .take(2 * MAX_ERRORS);
  }
  const byField = new Map<string, ValidationError>();
  for (const error of [...listRepeatedMembers(text), ...errors]) {
    const field = printable(error.field);
    if (!byField.has(field)) byField.set(field, { ...error, field });
  }
  return [...byField.values()].slice(0, MAX_ERRORS);
}

/** The shape that a line of a dataset is to have, by its `type`. */
function shapeOf({
  type,
  public: isPublic,
}: Record<string, unknown>): Shape<DatasetLine | EndLine> | ValidationError {
  if (type === "user") {
    if (typeof isPublic === "boolean") return isPublic ? shapes.publicUser : shapes.privateUser;
    if (isPublic === undefined) return { field: "public", reason: "is missing" };
    return mustBe("public", "true or false", isPublic);
  }
  const found = otherTypes.find((one) => one === type);
  if (found) return shapes[found];
  return mustBe("type", '"role", "achievement", "company", "user" or "end"', type);
}

/** How many members the objects in a value have; fewer than its text when a name repeats. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item);
  // Of a million lines Object.values, which makes a list of each object's, takes 0.3 s longer.
  else for (const name in value) count += 1 + countKeys((value as Record<string, unknown>)[name]);
  return count;
}

function listRepeatedMembers(text: string): Iterable<ValidationError> {
  return listMembers(text)
    .filter(({ isRepeated }) => isRepeated)
    .map(({ path }) => ({ field: path, reason: "appears more than once" }))
    .take(MAX_ERRORS);
}

/** The roles and achievements that a public user has twice. */
function listRepeatedIds(line: ChangeLine | EndLine): ValidationError[] {
  if (!("public" in line && line.public)) return [];
  const { id: userId, roles = [], achievements = [] } = line;
  if (isAscending(roles, (id) => id) && isAscending(achievements, ({ id }) => id)) return [];
  const repeatedIn = (type: string, ids: number[], end = "", advice = "") =>
    ids.flatMap((id, index) => {
      if (ids.indexOf(id) === index) return [];
      const reason = `${type} ${id} is listed twice for user ${userId}${advice}`;
      return [{ field: `${type}s[${index}]${end}`, kind: "is listed twice", reason }];
    });
  const unlocked = achievements.map(({ id }) => id);
  return [
    ...repeatedIn("role", roles),
    ...repeatedIn("achievement", unlocked, ".id", "; keep the highest tier"),
  ];
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
