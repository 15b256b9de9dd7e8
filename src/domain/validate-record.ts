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
import { Id, MAX_ROLES, PublicUserLine, UnlockedAchievement } from "./model.ts";
import {
  type Finding,
  mayBePrivate,
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

export class InvalidRecord {
  readonly errors: Finding[];
  /** The record as an object; empty if it is not an object. */
  readonly value: RawRecord;

  constructor(errors: Finding[], value: RawRecord = {}) {
    this.errors = errors;
    this.value = value;
  }

  /** Undefined unless the record has a valid `type` and `id`. */
  get recordId(): RecordId | undefined {
    const { type, id } = this.value;
    const known = recordTypes.find((name) => name === type);
    return known && Check(Id, id) ? { type: known, id } : undefined;
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
  if (isObject) return value as RawRecord;
  // It may be a private user's line, so it is not quoted.
  const got = /[[{"]/.test(text) ? "" : ", got plain text";
  return new InvalidRecord([{ field: "", reason: `must be a valid JSON object${got}` }]);
}

export function validateRecord(record: RawRecord): DatasetLine | InvalidRecord {
  return validate(record, shapeOf(record));
}

export function validateChange(record: RawRecord): ChangeLine | InvalidRecord {
  const isDeletion = "deleted" in record && recordTypes.some((type) => type === record.type);
  return validate<ChangeLine>(record, isDeletion ? shapeFor(DeletionLine) : shapeOf(record));
}

/** Validates a line about the whole dataset. Returns undefined for any other line. */
export function validateMarker(record: RawRecord): IdsLine | EndLine | InvalidRecord | undefined {
  if (record.type === "ids") return validate(record, shapeFor(lineSchemas.ids));
  return record.type === "end" ? validate(record, shapeFor(lineSchemas.end)) : undefined;
}

function validate<Valid extends AnyLine>(
  value: RawRecord,
  shape: Shape<Valid> | InvalidRecord,
): Valid | InvalidRecord {
  if (shape instanceof InvalidRecord) return shape;
  if (!shape.Check(value)) {
    return new InvalidRecord(listErrors(shape.Errors(value), mayBePrivate(value)), value);
  }
  const errors = listDuplicateIds(value);
  return errors.length === 0 ? value : new InvalidRecord(errors, value);
}

/** Returns the shape required by a record's `type` and `public`, unless those are invalid. */
function shapeOf(record: RawRecord): Shape<DatasetLine> | InvalidRecord {
  const { type, public: isPublic } = record;
  if (type === "role" || type === "achievement" || type === "company") {
    return shapeFor(lineSchemas[type]);
  }
  if (type !== "user") {
    const error = mustBe("type", '"role", "achievement", "company", "user" or "end"', type);
    return new InvalidRecord([error], record);
  }
  if (isPublic === true) return shapeFor(lineSchemas.publicUser);
  if (isPublic === false) return shapeFor(lineSchemas.privateUser);
  const isMissing = isPublic === undefined;
  const error = isMissing
    ? { field: "public", reason: "is missing" }
    : mustBe("public", "true or false", isPublic);
  return new InvalidRecord([error], record);
}

function listDuplicateIds(line: AnyLine): Finding[] {
  if (!isPublicUser(line)) return [];
  const { roles = [], achievements = [] } = line;
  const unlocked = achievements.map(({ id }) => id);
  return [
    ...listDuplicates(roles, (at) => `roles[${at}]`),
    ...listDuplicates(unlocked, (at) => `achievements[${at}].id`),
  ];
}

function listDuplicates(ids: number[], fieldOf: (at: number) => string): Finding[] {
  // Ids usually ascend. If so, there are no duplicates.
  if (ids.every((id, at) => id > (ids[at - 1] ?? 0))) return [];
  const seen = new Set<number>();
  return ids.flatMap((id, at) => {
    if (seen.has(id)) return [{ field: fieldOf(at), reason: "is listed twice" }];
    seen.add(id);
    return [];
  });
}

/**
 * For `import --skip-invalid`, drops the invalid avatar, company, roles and achievements of a public
 * user. Returns undefined if anything else is invalid, or if the record is not a public user's.
 */
export function salvageUser({ value }: InvalidRecord): PublicUserLine | undefined {
  if (value.type !== "user") return undefined;
  const { properties } = PublicUserLine;
  const { avatar_url, company, roles, achievements } = value;
  const kept: RawRecord = {
    ...value,
    avatar_url: Check(properties.avatar_url, avatar_url) ? avatar_url : null,
    company: Check(properties.company, company) ? company : null,
    roles: listValid(roles, Id, (id) => id).slice(0, MAX_ROLES),
    achievements: listValid(achievements, UnlockedAchievement, ({ id }) => id),
  };
  const record = validateRecord(kept);
  if (record instanceof InvalidRecord || record.type !== "user") return undefined;
  return record.public ? record : undefined;
}

/** Returns the valid ones of these items, without duplicates. */
function listValid<Schema extends TSchema>(
  items: unknown,
  schema: Schema,
  idOf: (item: Static<Schema>) => number,
): Static<Schema>[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<number>();
  return items.filter((item) => {
    if (!Check(schema, item) || seen.has(idOf(item))) return false;
    seen.add(idOf(item));
    return true;
  });
}
