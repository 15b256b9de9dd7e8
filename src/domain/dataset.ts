/**
 * One line of a dataset or change file: its shape for each `type`, and the parser that validates
 * it. Never compares lines, so duplicate ids and missing references are found elsewhere. See
 * README.md for the rules.
 */
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import { AchievementLine } from "./achievement.ts";
import { CompanyLine } from "./company.ts";
import { countMembers, listMembers, type Member } from "./json-members.ts";
import { RoleLine } from "./role.ts";
import { Count, closedObject, Id } from "./schema.ts";
import { optionalFields, PrivateUserLine, PublicUserLine } from "./user.ts";
import { explain, invalidJson, mustBe, printable, type ValidationError } from "./validation.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

const EndLine = closedObject({ type: Type.Literal("end"), lines: Count });
/** The optional last line. `lines` is the number of non-blank lines before it. */
export type EndLine = Static<typeof EndLine>;

const deletable = ["role", "achievement", "company", "user"] as const;

const DeletionLine = closedObject({
  type: Type.Union(deletable.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
/** In a change file, deletes the record with this id. */
export type DeletionLine = Static<typeof DeletionLine>;

/** A line of a change file adds a record, or replaces or deletes the one with its id. */
export type ChangeLine = DatasetLine | DeletionLine;

/** The most errors to report for one line, which may have a million invalid fields. */
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
 * JSON Schema 2020-12 for one line of a dataset, and under `$defs` for one of a change file. A
 * schema cannot express that ids are unique, that references exist, or that the end line is last.
 * Only the import checks these.
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

/** The parsed line, or at least one error. The caller must skip blank lines. */
export function parseLine(text: string): DatasetLine | EndLine | ValidationError[] {
  return parse(text, shapeOf);
}

/** Like {@link parseLine}, for a line of a change file. */
export function parseChange(text: string): ChangeLine | EndLine | ValidationError[] {
  return parse<ChangeLine | EndLine>(text, (value) =>
    "deleted" in value && deletable.some((type) => type === value.type)
      ? shapes.deletion
      : shapeOf(value),
  );
}

/** Yields the lines, then the end line. */
export function* withEndLine(lines: Iterable<string>): Generator<string> {
  let count = 0;
  for (const line of lines) {
    count++;
    yield line;
  }
  yield JSON.stringify({ type: "end", lines: count } satisfies EndLine);
}

/**
 * Parses the line of a public user and leaves out optional fields with errors. Returns the line and
 * these errors, or undefined if the line has other errors or is not a public user's.
 */
export function parseWithoutInvalidFields(
  text: string,
): { line: PublicUserLine; lost: ValidationError[] } | undefined {
  const errors = parseLine(text);
  if (!Array.isArray(errors)) {
    return "public" in errors && errors.public ? { line: errors, lost: [] } : undefined;
  }
  const isOptional = (name: string) => optionalFields.some((field) => field === name);
  const invalid = errors.map(({ field }) => field.replace(/[.[].*/s, ""));
  if (!invalid.every(isOptional)) return undefined;
  // There may be more duplicate members than errors reported, and JSON.parse takes the last one.
  const isRequiredDuplicate = ({ depth, isDuplicate, name }: Member) =>
    depth === 1 && isDuplicate && !isOptional(name);
  if (listMembers(text).some(isRequiredDuplicate)) return undefined;
  const value: Record<string, unknown> = JSON.parse(text);
  if (!invalid.some((name) => name in value)) return undefined;
  for (const name of invalid) delete value[name];
  // Duplicate ids in an array are found only when every field has the right shape.
  const rest = parseWithoutInvalidFields(JSON.stringify(value));
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
    return [invalidJson(text)];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ field: "", reason: "must be a JSON object" }];
  }
  const shape = shapeFor(value);
  let errors: Iterable<ValidationError>;
  if ("reason" in shape) errors = [shape];
  else if (shape.Check(value)) {
    const duplicates = listDuplicateIds(value);
    if (duplicates.length === 0 && countMembers(text) === countKeys(value)) return value;
    errors = duplicates;
  } else {
    // Twice as many, because a field may have two errors, of which only the first is reported.
    const isPrivate = value.type === "user" && value.public !== true;
    errors = Iterator.from(shape.Errors(value))
      .flatMap((error) => explain(error, text, isPrivate))
      .take(2 * MAX_ERRORS);
  }
  const byField = new Map<string, ValidationError>();
  for (const error of [...listDuplicateMembers(text), ...errors]) {
    const field = printable(error.field);
    if (!byField.has(field)) byField.set(field, { ...error, field });
  }
  return [...byField.values()].slice(0, MAX_ERRORS);
}

/** The shape that a dataset line must have, given its `type`. */
function shapeOf({
  type,
  public: isPublic,
}: Record<string, unknown>): Shape<DatasetLine | EndLine> | ValidationError {
  if (type === "user") {
    if (typeof isPublic === "boolean") return isPublic ? shapes.publicUser : shapes.privateUser;
    if (isPublic === undefined) return { field: "public", reason: "is missing" };
    return mustBe("public", "true or false", isPublic);
  }
  const otherType = otherTypes.find((name) => name === type);
  if (otherType) return shapes[otherType];
  return mustBe("type", '"role", "achievement", "company", "user" or "end"', type);
}

/** Counts the members of all objects in a value. A text with duplicate members has more. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item);
  // Not Object.values: an array per object would add 0.3 s to the import of a million lines.
  else for (const name in value) count += 1 + countKeys((value as Record<string, unknown>)[name]);
  return count;
}

function listDuplicateMembers(text: string): Iterable<ValidationError> {
  return listMembers(text)
    .filter(({ isDuplicate }) => isDuplicate)
    .map(({ path }) => ({ field: path, reason: "appears more than once" }))
    .take(MAX_ERRORS);
}

/** The errors for roles and achievements that a public user has more than once. */
function listDuplicateIds(line: ChangeLine | EndLine): ValidationError[] {
  if (!("public" in line && line.public)) return [];
  const { id: userId, roles = [], achievements = [] } = line;
  if (isAscending(roles, (id) => id) && isAscending(achievements, ({ id }) => id)) return [];
  const duplicatesIn = (type: string, ids: number[], end = "", advice = "") =>
    ids.flatMap((id, index) => {
      if (ids.indexOf(id) === index) return [];
      const reason = `${type} ${id} is listed twice for user ${userId}${advice}`;
      return [{ field: `${type}s[${index}]${end}`, kind: "is listed twice", reason }];
    });
  const unlocked = achievements.map(({ id }) => id);
  return [
    ...duplicatesIn("role", roles),
    ...duplicatesIn("achievement", unlocked, ".id", "; keep the highest tier"),
  ];
}

/** Whether the ids ascend, as they usually do. Then there are no duplicates. */
function isAscending<Item>(items: Item[], idOf: (item: Item) => number): boolean {
  let last = 0;
  for (const item of items) {
    const id = idOf(item);
    if (id <= last) return false;
    last = id;
  }
  return true;
}
