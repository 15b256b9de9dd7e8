/**
 * Parses and validates single records by the rules in README.md. Errors that concern several
 * records, such as duplicate ids, are found elsewhere.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ValueError } from "@sinclair/typebox/errors";
import { Check } from "@sinclair/typebox/value";
import {
  type AnyLine,
  type ChangeLine,
  type DatasetLine,
  DeletionLine,
  type EndLine,
  type IdsLine,
  isPublicUser,
  lineSchemas,
} from "./dataset.ts";
import { Id } from "./model.ts";
import {
  mayBePrivate,
  type Problem,
  type RawRecord,
  type RecordId,
  recordTypes,
} from "./records.ts";
import { listErrors, mustBe } from "./validation-errors.ts";

/** The check of a value, and the errors in it. */
interface Shape<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): Iterable<ValueError>;
}

const shapes = new Map<TSchema, Shape<unknown>>();

/** Compiles a schema when it is first used. */
export function shapeFor<Schema extends TSchema>(schema: Schema): Shape<Static<Schema>> {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = TypeCompiler.Compile(schema);
  shapes.set(schema, shape);
  return shape;
}

const HAS_LONG_NUMBER = /\d{16}/;

/** Turns an integer that `JSON.parse` has rounded into a bigint. */
function keepDigits(_name: string, value: unknown, { source = "" } = {}): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
  return isRounded && /^-?\d{1,100}$/.test(source) ? BigInt(source) : value;
}

/** Parses a line, which must not be blank, into an object. Returns what is wrong if it is none. */
export function parseObject(text: string): RawRecord | Problem[] {
  let value: unknown;
  try {
    value = HAS_LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {}
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject) return value as RawRecord;
  // It may be a private user's line, so it is not quoted.
  const got = /[[{"]/.test(text) ? "" : ", got plain text";
  return [{ field: "", reason: `must be a valid JSON object${got}` }];
}

/** Returns the type and id of a record, unless they are invalid. */
export function identify({ type, id }: RawRecord): RecordId | undefined {
  const known = recordTypes.find((name) => name === type);
  return known && Check(Id, id) ? { type: known, id } : undefined;
}

/** Returns the record or, if it is invalid, what is wrong with it. */
export function validateRecord(record: RawRecord): DatasetLine | Problem[] {
  return validate(record, shapeOf(record));
}

export function validateChange(record: RawRecord): ChangeLine | Problem[] {
  const isDeletion = "deleted" in record && recordTypes.some((type) => type === record.type);
  return validate<ChangeLine>(record, isDeletion ? shapeFor(DeletionLine) : shapeOf(record));
}

/** Validates a line about the whole dataset. Returns undefined for any other line. */
export function validateMarker(record: RawRecord): IdsLine | EndLine | Problem[] | undefined {
  if (record.type === "ids") return validate(record, shapeFor(lineSchemas.ids));
  return record.type === "end" ? validate(record, shapeFor(lineSchemas.end)) : undefined;
}

function validate<Valid extends AnyLine>(
  record: RawRecord,
  shape: Shape<Valid> | Problem,
): Valid | Problem[] {
  if ("reason" in shape) return [shape];
  if (!shape.Check(record)) return listErrors(shape.Errors(record), mayBePrivate(record));
  const duplicates = listDuplicateIds(record);
  return duplicates.length > 0 ? duplicates : record;
}

/** Returns the shape required by a record's `type` and `public`, or what is wrong with those. */
function shapeOf(record: RawRecord): Shape<DatasetLine> | Problem {
  const { type, public: isPublic } = record;
  if (type === "role" || type === "achievement" || type === "company") {
    return shapeFor(lineSchemas[type]);
  }
  if (type !== "user") {
    return mustBe("type", '"role", "achievement", "company", "user" or "end"', type);
  }
  if (isPublic === true) return shapeFor(lineSchemas.publicUser);
  if (isPublic === false) return shapeFor(lineSchemas.privateUser);
  if (isPublic === undefined) return { field: "public", reason: "is missing" };
  return mustBe("public", "true or false", isPublic);
}

function listDuplicateIds(line: AnyLine): Problem[] {
  if (!isPublicUser(line)) return [];
  const { roles = [], achievements = [] } = line;
  const unlocked = achievements.map(({ id }) => id);
  return [
    ...listDuplicates(roles, (at) => `roles[${at}]`),
    ...listDuplicates(unlocked, (at) => `achievements[${at}].id`),
  ];
}

function listDuplicates(ids: number[], fieldOf: (at: number) => string): Problem[] {
  // Ids usually ascend. If so, there are no duplicates.
  if (ids.every((id, at) => id > (ids[at - 1] ?? 0))) return [];
  const seen = new Set<number>();
  return ids.flatMap((id, at) => {
    if (seen.has(id)) return [{ field: fieldOf(at), reason: "is listed twice" }];
    seen.add(id);
    return [];
  });
}
