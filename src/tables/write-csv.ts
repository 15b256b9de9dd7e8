/** Writes the lines of a dataset as CSV files. Importing them gives the same snapshot. */
import type { DatasetLine } from "../domain/dataset.ts";
import type { PrivateUserLine, PublicUserLine } from "../domain/model.ts";
import { columnsOf, type TableName } from "./columns.ts";

type Cell = string | number | boolean | null | undefined;
type Row = Record<string, Cell>;

/** Yields the lines of a table's file, beginning with its header. */
export function* toCsv(table: TableName, lines: Iterable<DatasetLine>): Generator<string> {
  const columns = columnsOf(table);
  yield columns.join();
  for (const line of lines) {
    for (const row of rowsOf[table](line)) yield columns.map((name) => quote(row[name])).join();
  }
}

/** The rows of each table that a line of the dataset becomes. */
const rowsOf: Record<TableName, (line: DatasetLine) => Row[]> = {
  roles: (line) => (line.type === "role" ? [line] : []),
  achievements: (line) => (line.type === "achievement" ? [line] : []),
  companies: (line) => (line.type === "company" ? [line] : []),
  users: (line) => (line.type === "user" ? [toUserRow(line)] : []),
  user_roles(line) {
    const roles = isPublic(line) ? (line.roles ?? []) : [];
    return roles.map((role_id) => ({ user_id: line.id, role_id }));
  },
  user_achievements(line) {
    const achievements = isPublic(line) ? (line.achievements ?? []) : [];
    return achievements.map(({ id, tier, unlocked_at }) => {
      return { user_id: line.id, achievement_id: id, tier, unlocked_at };
    });
  },
};

function toUserRow(line: PublicUserLine | PrivateUserLine): Row {
  if (!isPublic(line)) return { id: line.id, public: false };
  const { id, name, avatar_url, created_at, company } = line;
  const membership = company ? { company_id: company.id, company_role: company.role } : {};
  return { id, public: true, name, avatar_url, created_at, ...membership };
}

function isPublic(line: DatasetLine): line is PublicUserLine {
  return line.type === "user" && line.public;
}

/** Quotes as RFC 4180 says. Null and undefined become an empty field. */
function quote(cell: Cell): string {
  const text = String(cell ?? "");
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
