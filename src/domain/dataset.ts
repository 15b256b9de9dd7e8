/** The lines of a dataset or change file: what they can be, as types and as JSON Schema. */
import { type Static, Type } from "@sinclair/typebox";
import {
  AchievementLine,
  CompanyLine,
  Count,
  closedObject,
  Id,
  Mark,
  PrivateUserLine,
  PublicUserLine,
  RoleLine,
} from "./model.ts";
import { recordTypes } from "./records.ts";

export type DatasetLine =
  | RoleLine
  | AchievementLine
  | CompanyLine
  | PublicUserLine
  | PrivateUserLine;

export const EndLine = closedObject({ type: Type.Literal("end"), lines: Count });
export type EndLine = Static<typeof EndLine>;

/** The first line of a dataset whose ids are a snapshot's, not keys: the mark of its id map. */
export const IdsLine = closedObject({ type: Type.Literal("ids"), map: Mark });
export type IdsLine = Static<typeof IdsLine>;

export const DeletionLine = closedObject({
  type: Type.Union(recordTypes.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
export type DeletionLine = Static<typeof DeletionLine>;

export type ChangeLine = DatasetLine | DeletionLine;

/** A record, a deletion, or a line about the whole file. */
export type AnyLine = ChangeLine | IdsLine | EndLine;

export function isPublicUser(line: AnyLine): line is PublicUserLine {
  return line.type === "user" && "public" in line && line.public;
}

/** The schemas of the lines of a dataset. A change file can have deletions, too. */
export const lineSchemas = {
  role: RoleLine,
  achievement: AchievementLine,
  company: CompanyLine,
  publicUser: PublicUserLine,
  privateUser: PrivateUserLine,
  ids: IdsLine,
  end: EndLine,
};

/** Returns the JSON Schema for dataset lines. The schema of change lines is `$defs.change`. */
export function datasetSchema(): object {
  const refTo = (name: string) => ({ $ref: `#/$defs/${name}` });
  const anyOf = Object.keys(lineSchemas).map(refTo);
  const change = { anyOf: [...anyOf, refTo("deletion")] };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of a Roadbook dataset",
    description: "A line of a change file is one of these or a deletion: see $defs/change.",
    anyOf,
    $defs: { ...lineSchemas, deletion: DeletionLine, change },
  };
}

/** Adds the end line to the lines of a dataset. */
export function* withEndLine(lines: Iterable<string>): Generator<string> {
  let count = 0;
  for (const line of lines) {
    count++;
    yield line;
  }
  yield JSON.stringify({ type: "end", lines: count } satisfies EndLine);
}
