/**
 * The lines of a dataset or change file (what they can be, as types and as JSON Schema), and the
 * interface of whatever reads them: the records in order, where each stands, and whose ids they have.
 */
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

export const recordTypes = ["role", "achievement", "company", "user"] as const;
export type RecordType = (typeof recordTypes)[number];

export const DeletionLine = closedObject({
  type: Type.Union(recordTypes.map((type) => Type.Literal(type))),
  id: Id,
  deleted: Type.Literal(true, { description: "true" }),
});
export type DeletionLine = Static<typeof DeletionLine>;

export type ChangeLine = DatasetLine | DeletionLine;

export type RecordKey = Pick<DeletionLine, "type" | "id">;

/** An object that has not been validated yet. */
export type RawRecord = Record<string, unknown>;

/** Whether a record is, or might be meant as, a private user. Only the id of one is written. */
export function mayBePrivate(record: RawRecord): boolean {
  return record.type === "user" && record.public !== true;
}

export function isPublicUser(line: ChangeLine | IdsLine | EndLine): line is PublicUserLine {
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

export interface RecordReader extends AsyncDisposable {
  readonly ids: SourceIds;
  /** Yields everything in the source, in batches. */
  read(): AsyncIterable<Iterable<Item>>;
  /**
   * Adds to an error that was found in one of the records where it is. May also write its field and
   * reason as they fit the source.
   */
  locate(error: FoundError): FoundError;
}

/** Whose ids the records of a source have. */
export type SourceIds =
  /** The operator's: keys that an id map translates or, if there is none, integers. */
  | { readonly kind: "own" }
  /** A snapshot's numbers, which an id map must not translate again, and the last mark of its map. */
  | { readonly kind: "snapshot"; readonly mark: string | undefined };

export const OWN_IDS: SourceIds = { kind: "own" };

/** A record, a part of the source that is none, or what the report says about the source. */
export type Item = RecordItem | ProblemItem | NoteItem | ColumnItem;

/**
 * Where a record stands: the number of its line, or of a record of a snapshot. 0 for each row of a
 * database, which is found by its id. Only the reader knows what it means.
 */
export type Position = number;

export interface RecordItem {
  record: RawRecord;
  at: Position;
  /**
   * The line of the first record with the same id, for a message about this one. Only rows of CSV files
   * have it, because they are read in the order of their ids, in which those with the same id follow
   * each other.
   */
  first?: number | undefined;
}

/** An error in a part of the source that is no record. */
interface ProblemItem {
  /** Says where it is. */
  problem: FoundError;
  /** Whether a user is left out who cannot be made private, because nobody can read the id. */
  losesUser: boolean;
}

/** How a file was read, where it could not show it at once. */
interface NoteItem {
  note: string;
}

/** A column of a table that is left out. */
interface ColumnItem {
  unknownColumn: UnknownColumn;
}

/** An error as users of the library and of `--json` see it. */
export interface RecordError {
  /** Empty for an error in the whole line. */
  field: string;
  reason: string;
  /** The type and id of the record, if they can be read. With an id map, the id in the source. */
  type?: RecordType | undefined;
  id?: number | string | undefined;
  /** Undefined if the error is not in a single line of NDJSON. */
  line?: number | undefined;
  /** The row of a table (`users.csv, line 12`, or `users.sql, id 42`) or the path of a snapshot. */
  place?: string | undefined;
}

/**
 * An error on its way to the report. A check says what is wrong, then the record is added, and last the
 * reader says where it is.
 */
export interface FoundError extends RecordError {
  /** Errors of the same kind in the same field are grouped. Defaults to `reason`. */
  kind?: string;
  /** Where the record stands. Undefined if the error is not in a single record. */
  at?: Position | undefined;
  /** Whether the reason or the place has the id of the record, which a message then does not repeat. */
  hasId?: boolean;
  /** Whether nothing can be skipped because of the error. */
  isFinal?: boolean;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: { type: RecordType; id: number | string };
}

/** A column that is left out, and the column that was probably meant. */
export interface UnknownColumn {
  file: string;
  column: string;
  meant?: string | undefined;
}
