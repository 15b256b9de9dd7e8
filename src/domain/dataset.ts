/**
 * Parses and validates single lines of a dataset or change file. Never compares lines, so duplicate
 * ids and missing references are found elsewhere. README.md has the rules.
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
/** The optional last line of a file. `lines` is the number of non-blank lines above it. */
export type EndLine = Static<typeof EndLine>;

const deletable = ["role", "achievement", "company", "user"] as const;

const DeletionLine = closedObject({
  type: Type.Union(deletable.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
/** A line of a change file that deletes the record with the same type and id. */
export type DeletionLine = Static<typeof DeletionLine>;

/**
 * A line of a change file. It adds a record, or replaces or deletes the record with the same type
 * and id.
 */
export type ChangeLine = DatasetLine | DeletionLine;

/** The maximum number of errors to report per line. A single line can cause a million errors. */
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
 * Returns the JSON Schema (2020-12) for a line of a dataset. `$defs.change` is the schema for a
 * line of a change file. A schema for single lines cannot check that ids are unique, that
 * references exist, or that the end line is last. Only the import checks these.
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

/** Returns the parsed line, or a non-empty list of errors. The caller must skip blank lines. */
export function parseLine(text: string): DatasetLine | EndLine | ValidationError[] {
  return parse(text, shapeOf);
}

/** Like {@link parseLine}, but for a line of a change file. */
export function parseChange(text: string): ChangeLine | EndLine | ValidationError[] {
  return parse<ChangeLine | EndLine>(text, (value) =>
    "deleted" in value && deletable.some((type) => type === value.type)
      ? shapes.deletion
      : shapeOf(value),
  );
}

/** Yields `lines`, followed by an end line. */
export function* withEndLine(lines: Iterable<string>): Generator<string> {
  let count = 0;
  for (const line of lines) {
    count++;
    yield line;
  }
  yield JSON.stringify({ type: "end", lines: count } satisfies EndLine);
}

/**
 * Parses a public user's line and drops the optional fields that are invalid. Returns the line and
 * the errors in the dropped fields, or undefined if other fields are invalid or the line is not a
 * public user's.
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
  // `errors` might not list every duplicate member, and JSON.parse keeps only the last duplicate.
  const isRequiredDuplicate = ({ depth, isDuplicate, name }: Member) =>
    depth === 1 && isDuplicate && !isOptional(name);
  if (listMembers(text).some(isRequiredDuplicate)) return undefined;
  const value: Record<string, unknown> = JSON.parse(text);
  if (!invalid.some((name) => name in value)) return undefined;
  for (const name of invalid) delete value[name];
  // Parses again, because duplicate ids in arrays are found only if every field has the right
  // shape.
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
    const isPrivate = value.type === "user" && value.public !== true;
    errors = Iterator.from(shape.Errors(value))
      .flatMap((error) => explain(error, text, isPrivate))
      // A field may have two errors, of which only the first is reported.
      .take(2 * MAX_ERRORS);
  }
  const byField = new Map<string, ValidationError>();
  for (const error of [...listDuplicateMembers(text), ...errors]) {
    const field = printable(error.field);
    if (!byField.has(field)) byField.set(field, { ...error, field });
  }
  return [...byField.values()].slice(0, MAX_ERRORS);
}

/**
 * Returns the shape that a line must have, given its `type` and `public` members, or an error if
 * either is invalid.
 */
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

/**
 * Counts the members of all objects in a parsed value. If the JSON text has duplicate members, it
 * has more members than the value.
 */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item);
  // Object.values would create an array per object, adding 0.3 s to an import of a million lines.
  else for (const name in value) count += 1 + countKeys((value as Record<string, unknown>)[name]);
  return count;
}

function listDuplicateMembers(text: string): Iterable<ValidationError> {
  return listMembers(text)
    .filter(({ isDuplicate }) => isDuplicate)
    .map(({ path }) => ({ field: path, reason: "appears more than once" }))
    .take(MAX_ERRORS);
}

/**
 * Returns the errors for roles and achievements that are listed more than once for a public user.
 */
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

/**
 * Whether each id is greater than the id before it, as is usual. If so, there are no duplicates.
 */
function isAscending<Item>(items: Item[], idOf: (item: Item) => number): boolean {
  let last = 0;
  for (const item of items) {
    const id = idOf(item);
    if (id <= last) return false;
    last = id;
  }
  return true;
}
