/**
 * Writes the records of a dataset as CSV files. Importing them gives the same snapshot, except that an import
 * refuses names and roles that look like none, or like an error of a formula.
 */
import { type DatasetLine, isPublicUser } from "../domain/dataset.ts";
import type { PrivateUserLine, PublicUserLine } from "../domain/model.ts";
import { isNoValue } from "../domain/text.ts";
import { columnsOf, type TableName, tableOf } from "./columns.ts";

type Cell = string | number | boolean | null | undefined;
type CsvFields = Record<string, Cell>;

/**
 * Yields the lines of a table's file, beginning with its header. Throws if a text would be read as another
 * one, or as none.
 */
export function* toCsv(table: TableName, records: Iterable<DatasetLine>): Generator<string> {
  // The name of a company is only read.
  const columns = columnsOf(table).filter((column) => column !== "company");
  yield columns.join();
  for (const record of records) {
    for (const row of listRows(table, record)) {
      const lost = columns.find((column) => isLost(row[column]));
      if (lost !== undefined) {
        const text = JSON.stringify(row[lost]);
        throw new Error(`${record.type} ${record.id}: ${lost} cannot be ${text} in a CSV file`);
      }
      yield columns.map((column) => toField(row[column])).join();
    }
  }
}

/** Lists the rows of a table that a record of the dataset becomes. */
function listRows(table: TableName, record: DatasetLine): CsvFields[] {
  if (table === tableOf(record.type))
    return [record.type === "user" ? toUserFields(record) : record];
  if (!isPublicUser(record)) return [];

  const { id: user_id, roles = [], achievements = [] } = record;
  if (table === "user_roles") return roles.map((role_id) => ({ user_id, role_id }));
  if (table !== "user_achievements") return [];
  return achievements.map(({ id, tier, unlocked_at }) => {
    return { user_id, achievement_id: id, tier, unlocked_at };
  });
}

function toUserFields(record: PublicUserLine | PrivateUserLine): CsvFields {
  if (!isPublicUser(record)) return { id: record.id, public: false };
  const { id, name, avatar_url, created_at, company } = record;
  const membership = company ? { company_id: company.id, company_role: company.role } : {};
  return { id, public: true, name, avatar_url, created_at, ...membership };
}

/** Empty text is no value in CSV, and readers take a CR for a line end or a space. */
function isLost(cell: Cell): boolean {
  return typeof cell === "string" && (cell === "" || cell.includes("\r"));
}

/** Quotes as RFC 4180 says, and text such as NULL. Null and undefined become an empty field. */
function toField(cell: Cell): string {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) || isNoValue(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
