/**
 * One line of a dataset: its shapes by `type`, and the reading of a line into one of them or into
 * what is wrong with it. Whether ids repeat or references hold is for who sees all the lines.
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { AchievementLine } from "./achievement.ts";
import { CompanyLine } from "./company.ts";
import { RoleLine } from "./role.ts";
import { Id } from "./schema.ts";
import { PrivateUserLine, PublicUserLine } from "./user.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

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
export interface Fault {
  field: string;
  reason: string;
}

const readers = {
  role: compile(RoleLine),
  achievement: compile(AchievementLine),
  company: compile(CompanyLine),
};
const types: unknown[] = [...Object.keys(readers), "user"];
const readDeletion = compile(DeletionLine);
const readPublicUser = compile(PublicUserLine);
const readPrivateUser = compile(PrivateUserLine);

/** The line's object, or a list of at least one fault. Blank lines are the caller's to skip. */
export function parseLine(text: string): DatasetLine | Fault[] {
  const value = parseObject(text);
  return Array.isArray(value) ? value : readLine(value);
}

/** The same for a line of a change file. */
export function parseChange(text: string): ChangeLine | Fault[] {
  const value = parseObject(text);
  if (Array.isArray(value)) return value;
  const isDeletion = types.includes(value.type) && "deleted" in value;
  return isDeletion ? readDeletion(value) : readLine(value);
}

function parseObject(text: string): Record<string, unknown> | Fault[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ field: "", reason: "is not valid JSON" }];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ field: "", reason: "must be a JSON object" }];
  }
  return value as Record<string, unknown>;
}

function readLine(value: Record<string, unknown>): DatasetLine | Fault[] {
  const { type, public: isPublic } = value;
  if (type === "role" || type === "achievement" || type === "company") return readers[type](value);
  if (type !== "user") {
    return [{ field: "type", reason: 'must be "role", "achievement", "company" or "user"' }];
  }
  if (isPublic === true) return readPublicUser(value);
  if (isPublic === false) return readPrivateUser(value);
  return [
    { field: "public", reason: isPublic === undefined ? "is missing" : "must be true or false" },
  ];
}

function compile<T extends TObject>(schema: T): (value: unknown) => Static<T> | Fault[] {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return value;
    const faults = new Map<string, string>();
    for (const error of compiled.Errors(value)) {
      for (const { field, reason } of describe(error)) {
        if (!faults.has(field)) faults.set(field, reason);
      }
    }
    return [...faults].map(([field, reason]) => ({ field, reason }));
  };
}

/** A union names no field of its branches, so the branch that is an object speaks for it. */
function* describe(error: ValueError): Generator<Fault> {
  const field = error.path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  if (error.type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    yield { field, reason: "is not a known field" };
  } else if (error.type === ValueErrorType.Union && typeof error.value === "object") {
    for (const inner of error.errors[0] ?? []) yield* describe(inner);
  } else yield { field, reason: `must be ${error.schema.description ?? "of the right shape"}` };
}
