/**
 * Parses and validates single lines of a dataset or change file by the rules in README.md. Errors
 * that concern several lines, such as duplicate ids, are found elsewhere.
 */
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import {
  AchievementLine,
  CompanyLine,
  Count,
  closedObject,
  Id,
  MAX_ROLES,
  Mark,
  PrivateUserLine,
  PublicUserLine,
  RoleLine,
  UnlockedAchievement,
} from "./model.ts";
import { cleanName } from "./text.ts";
import {
  explain,
  mustBe,
  notAnObject,
  printable,
  type ValidationError,
} from "./validation-errors.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

const EndLine = closedObject({ type: Type.Literal("end"), lines: Count });
export type EndLine = Static<typeof EndLine>;

/** The first line of a dataset whose ids are a snapshot's, not keys: the mark of its id map. */
const IdsLine = closedObject({ type: Type.Literal("ids"), map: Mark });
export type IdsLine = Static<typeof IdsLine>;

export const recordTypes = ["role", "achievement", "company", "user"] as const;

const DeletionLine = closedObject({
  type: Type.Union(recordTypes.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
export type DeletionLine = Static<typeof DeletionLine>;

export type ChangeLine = DatasetLine | DeletionLine;

/** How many errors to report per line. A single line can cause a million. */
const MAX_ERRORS = 20;

const shapes = {
  role: TypeCompiler.Compile(RoleLine),
  achievement: TypeCompiler.Compile(AchievementLine),
  company: TypeCompiler.Compile(CompanyLine),
  publicUser: TypeCompiler.Compile(PublicUserLine),
  privateUser: TypeCompiler.Compile(PrivateUserLine),
  ids: TypeCompiler.Compile(IdsLine),
  end: TypeCompiler.Compile(EndLine),
  deletion: TypeCompiler.Compile(DeletionLine),
};
/** Parts of a public user. */
const parts = {
  avatar: TypeCompiler.Compile(PublicUserLine.properties.avatar_url),
  company: TypeCompiler.Compile(PublicUserLine.properties.company),
  id: TypeCompiler.Compile(Id),
  achievement: TypeCompiler.Compile(UnlockedAchievement),
  /** In tables, the id may be a key. */
  unlock: TypeCompiler.Compile(
    Type.Object({ ...UnlockedAchievement.properties, id: Type.Unknown() }),
  ),
};

interface Shape<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): Iterable<ValueError>;
}

/** Returns the JSON Schema for dataset lines. The schema of change lines is `$defs.change`. */
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

export type RecordKey = Pick<DeletionLine, "type" | "id">;

/** An object that has not been validated yet. */
export type RawRecord = Record<string, unknown>;

export class InvalidRecord {
  readonly errors: ValidationError[];
  /** The line as an object; empty if the line is not an object. */
  readonly value: RawRecord;

  constructor(errors: ValidationError[], value: RawRecord = {}) {
    this.errors = errors;
    this.value = value;
  }

  /** Undefined unless the line has a valid `type` and `id`. */
  get record(): RecordKey | undefined {
    const { type, id } = this.value;
    const known = recordTypes.find((name) => name === type);
    return known && parts.id.Check(id) ? { type: known, id } : undefined;
  }
}

const HAS_LONG_NUMBER = /\d{16}/;

/** Turns an integer that `JSON.parse` has rounded into a bigint. */
function keepDigits(_name: string, value: unknown, { source = "" } = {}): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
  return isRounded && /^-?\d{1,100}$/.test(source) ? BigInt(source) : value;
}

/** Parses a line, which must not be blank, into an object. */
export function parseObject(text: string): RawRecord | InvalidRecord {
  let value: unknown;
  try {
    value = HAS_LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {}
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as RawRecord) : new InvalidRecord([notAnObject(text)]);
}

/** Cleans the names in a record. Returns how many of them have changed. */
export function cleanNames(record: RawRecord): number {
  return cleanField(record, "name") + cleanField(Object(record.company), "role");
}

function cleanField(record: RawRecord, field: string): number {
  const name = record[field];
  if (typeof name !== "string") return 0;
  record[field] = cleanName(name);
  return Number(record[field] !== name);
}

export function validateRecord(record: RawRecord): DatasetLine | InvalidRecord {
  return validate(record, shapeOf(record));
}

export function validateChange(record: RawRecord): ChangeLine | InvalidRecord {
  const isDeletion = "deleted" in record && recordTypes.some((type) => type === record.type);
  return validate<ChangeLine>(record, isDeletion ? shapes.deletion : shapeOf(record));
}

/** Validates a line about the whole dataset. Returns undefined for any other line. */
export function validateMarker(record: RawRecord): IdsLine | EndLine | InvalidRecord | undefined {
  if (record.type === "ids") return validate(record, shapes.ids);
  return record.type === "end" ? validate(record, shapes.end) : undefined;
}

export function* withEndLine(lines: Iterable<string>): Generator<string> {
  let count = 0;
  for (const line of lines) {
    count++;
    yield line;
  }
  yield JSON.stringify({ type: "end", lines: count } satisfies EndLine);
}

/**
 * Drops the invalid avatar, company, roles and achievements of a public user. Returns undefined if
 * anything else is invalid, or if the line is not a public user's.
 */
export function salvageUser({ value }: InvalidRecord): PublicUserLine | undefined {
  if (value.type !== "user") return undefined;
  const { avatar_url, company, roles, achievements } = value;
  const kept: unknown = {
    ...value,
    avatar_url: parts.avatar.Check(avatar_url) ? avatar_url : null,
    company: parts.company.Check(company) ? company : null,
    roles: listValid(roles, parts.id, (id) => id).slice(0, MAX_ROLES),
    achievements: listValid(achievements, parts.achievement, ({ id }) => id),
  };
  return shapes.publicUser.Check(kept) ? kept : undefined;
}

/** Returns the valid ones of these items, without duplicates. */
function listValid<Item>(items: unknown, shape: Shape<Item>, idOf: (item: Item) => number): Item[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<number>();
  return items.filter((item) => shape.Check(item) && seen.size < seen.add(idOf(item)).size);
}

function validate<Valid extends ChangeLine | IdsLine | EndLine>(
  value: RawRecord,
  shape: Shape<Valid> | ValidationError,
): Valid | InvalidRecord {
  if ("reason" in shape) return new InvalidRecord([shape], value);
  const isPrivate = value.type === "user" && value.public !== true;
  const isValid = shape.Check(value);
  const errors = isValid ? listDuplicateIds(value) : listErrors(shape, value, isPrivate);
  return isValid && errors.length === 0 ? value : new InvalidRecord(errors, value);
}

/** Returns the errors in the tier and the time of a user's achievement. */
export function validateUnlock(unlock: RawRecord): ValidationError[] {
  return parts.unlock.Check(unlock) ? [] : listErrors(parts.unlock, unlock, false);
}

/** Returns the first error of each field. If `isPrivate` is set, only ids are quoted. */
function listErrors(shape: Shape<unknown>, value: unknown, isPrivate: boolean): ValidationError[] {
  const errors = Iterator.from(shape.Errors(value))
    .flatMap((error) => explain(error, isPrivate))
    // A field may have two errors.
    .take(2 * MAX_ERRORS);
  const byField = Map.groupBy(errors, ({ field }) => printable(field));
  const first = Array.from(byField, ([field, [error]]) => ({ reason: "", ...error, field }));
  return first.slice(0, MAX_ERRORS);
}

/** Returns the shape required by a line's `type` and `public`, or the error in those fields. */
function shapeOf(record: RawRecord): Shape<DatasetLine> | ValidationError {
  const { type, public: isPublic } = record;
  if (type === "role" || type === "achievement" || type === "company") return shapes[type];
  if (type !== "user") {
    return mustBe("type", '"role", "achievement", "company", "user" or "end"', type);
  }
  if (typeof isPublic === "boolean") return isPublic ? shapes.publicUser : shapes.privateUser;
  if (isPublic === undefined) return { field: "public", reason: "is missing" };
  return mustBe("public", "true or false", isPublic);
}

function listDuplicateIds(line: ChangeLine | IdsLine | EndLine): ValidationError[] {
  if (!("public" in line && line.public)) return [];
  const { roles = [], achievements = [] } = line;
  const unlocked = achievements.map(({ id }) => id);
  return [
    ...listRepeated(roles, (at) => `roles[${at}]`),
    ...listRepeated(unlocked, (at) => `achievements[${at}].id`),
  ];
}

function listRepeated(ids: number[], fieldOf: (at: number) => string): ValidationError[] {
  // Ids usually ascend. If so, there are no duplicates.
  if (ids.every((id, at) => id > (ids[at - 1] ?? 0))) return [];
  const seen = new Set<number>();
  const repeated = [...ids.keys()].filter((at) => seen.size === seen.add(ids[at] ?? 0).size);
  return repeated.map((at) => ({ field: fieldOf(at), reason: "is listed twice" }));
}
