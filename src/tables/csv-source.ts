/**
 * Reads tables from CSV files. Loads them into a temporary database, because their rows are in any
 * order, after finding out what their quotes and backslashes mean.
 */
import { basename } from "node:path";
import { sqlite } from "#sqlite";
import { isQuestionMarks } from "../domain/placeholders.ts";
import { naming, TEMPORARY_DATABASE } from "../files/errors.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import {
  type ColumnName,
  columnsOf,
  findColumn,
  hasFreeText,
  type IdFormat,
  idColumnOf,
  type TableName,
} from "./columns.ts";
import {
  AmbiguousFile,
  type CsvForm,
  type CsvRecord,
  isSeparator,
  readCsvLines,
  readRecords,
  SAVE_AS_UTF8,
} from "./csv-records.ts";
import { findColumns, findTitled, type Header } from "./header.ts";
import { dialects, type Row, type TableSource } from "./table.ts";
import { DateColumn, type DateOrder, type DateOrders } from "./times.ts";

/** The rules that an operator can give: quotes surround fields, or are characters like others. */
export const quoteRules = ["csv", "none"] as const;
export type QuoteRule = (typeof quoteRules)[number];

export interface CsvOptions {
  /** The order of day and month, where a column does not show it. */
  dates?: DateOrder | undefined;
  /** Whether quotes surround fields, where a file does not show it. */
  quotes?: QuoteRule | undefined;
  /** The title of the column of users that is taken as the id. */
  key?: string | undefined;
}

export function openCsvSource(ids: IdFormat, { dates, quotes, key }: CsvOptions): TableSource {
  const { $client: client } = sqlite.openTemporary();
  client.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const names = new Map<TableName, string>();
  const dateOrders = new Map<string, DateOrders>();

  const run = (sql: string) =>
    naming(TEMPORARY_DATABASE, "write", async () => client.prepare<Row>(sql).all());

  async function open(table: TableName, path: string) {
    const name = basename(path);
    names.set(table, name);
    const file = { name, path, table, quotes, key: table === "users" ? key : undefined };
    const loader = createLoader(client, table, ids);
    const header = await readCsv(file, loader.add);
    if (loader.isMisread()) {
      throw new Error(`${name}: most names are question marks; ${SAVE_AS_UTF8}`);
    }
    loader.addIndex();

    for (const [column, times] of loader.times) {
      const { orders, notes } = times.decide(`${name}: ${column}`, dates);
      dateOrders.set(column, orders);
      header.notes.push(...notes);
    }
    return { ...header, from: table, run };
  }

  return {
    ids,
    dialect: dialects.sqlite,
    isSpreadsheet: true,
    dateOrders,
    fileOf: (table) => names.get(table) ?? `${table}.csv`,
    open: (table, path) => naming(TEMPORARY_DATABASE, "write", () => open(table, path)),
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
}

/** Loads the rows of a file into a table of the database, and learns from them how they are written. */
function createLoader(client: Sqlite, table: TableName, ids: IdFormat) {
  const columns = columnsOf(table);
  const idColumn = idColumnOf(table);
  const times = new Map(
    columns
      .filter((column) => findColumn(column)?.holds === "time")
      .map((column) => [column, new DateColumn()]),
  );
  let names = 0;
  let questionMarks = 0;

  client.exec(`CREATE TABLE ${table} (${columns.join(", ")}, line)`);
  const values = [...columns, "line"].map(() => "?").join(", ");
  const insert = client.prepare(`INSERT INTO ${table} VALUES (${values})`);

  return {
    times,
    add(cells: readonly string[], line: number): void {
      const row = columns.map((column, at) => {
        const cell = cells[at] ?? "";
        times.get(column)?.add(cell, line);
        if (column === "name" && cell !== "") {
          names++;
          if (isQuestionMarks(cell)) questionMarks++;
        }
        const id = column === idColumn && ids.read(cell);
        return typeof id === "number" || typeof id === "string" ? id : cell || null;
      });
      insert.run(...row, line);
    },
    /** Whether most names are what a program writes for letters that its encoding lacks. */
    isMisread: () => questionMarks > 2 && 2 * questionMarks > names,
    /**
     * The index has all columns, so that a page is read from one place. Rows with the same id are in
     * the order of their lines.
     */
    addIndex(): void {
      const indexed = [...new Set([idColumn, "line", ...columns])].join(", ");
      client.exec(`CREATE INDEX ${table}_by_id ON ${table} (${indexed})`);
    },
  };
}

interface CsvFile {
  name: string;
  path: string;
  table: TableName;
  /** The rule that its operator gives. */
  quotes: QuoteRule | undefined;
  /** The title of the column that is taken as the id. */
  key: string | undefined;
}

/** Takes a row: its cells in the order of the table's columns, and the line on which it begins. */
type AddRow = (cells: readonly string[], line: number) => void;

/** The facts that the lines of a file show by themselves. */
interface Traits {
  delimiter: string;
  /** The first line with a field that begins with a quote. */
  quoteLine?: number;
  /** The first line with a backslash that may be an escape. */
  backslashLine?: number;
  /** Whether \N or \0 stands where people write nothing. Then backslashes are escapes. */
  hasEscapes: boolean;
  /** Whether quotes may also be characters: several programs write tabs. Otherwise they surround fields. */
  isUnclear: boolean;
}

/**
 * Reads all rows. A note says what quotes and backslashes mean, if only the rows could show it. Throws
 * an {@link AmbiguousFile} if they do not.
 */
async function readCsv(file: CsvFile, add: AddRow): Promise<Header> {
  const traits = await examine(file);
  const { quoteLine, isUnclear } = traits;
  const form = await findForm(file, traits);
  try {
    const header = await readAs(file, form, add);
    if (isUnclear) header.notes.push(describeForm(file, form));
    return header;
  } catch (error) {
    if (file.quotes !== undefined || quoteLine === undefined) throw error;
    const forms = listForms(file, { ...traits, isUnclear: true });
    const others = forms.filter(({ hasQuotes }) => !hasQuotes);
    const isOther = (await listFitting(file, others)).length > 0;
    throw isOther ? new AmbiguousFile(file.name, quoteLine) : error;
  }
}

/** Whatever the rows leave open must give the same people. */
async function findForm(file: CsvFile, traits: Traits): Promise<CsvForm> {
  const forms = listForms(file, traits);
  if (forms.length === 1) return forms[0];

  const { quoteLine, backslashLine, hasEscapes } = traits;
  const all = await listFitting(file, forms);
  const escaped = all.filter((form) => hasEscapes && form.hasEscapes);
  const fitting = escaped.length > 0 ? escaped : all;
  const [form = forms[0]] = fitting;
  if (file.quotes !== undefined) return form;

  const hasOtherQuotes = fitting.some(({ hasQuotes }) => hasQuotes !== form.hasQuotes);
  if (quoteLine !== undefined && hasOtherQuotes) throw new AmbiguousFile(file.name, quoteLine);
  if (fitting.every(({ hasEscapes }) => hasEscapes === form.hasEscapes)) return form;
  throw new AmbiguousFile(file.name, backslashLine);
}

/** The forms that a file can have by its traits and its operator, the likelier ones first. */
function listForms(
  { quotes }: CsvFile,
  { delimiter, backslashLine, isUnclear }: Traits,
): [CsvForm, ...CsvForm[]] {
  const hasBackslash = backslashLine !== undefined;
  const hasQuotes = quotes !== "none";
  const hasEscapes = hasBackslash && !hasQuotes;
  const form = { delimiter, hasQuotes, hasEscapes, isGiven: quotes !== undefined };
  const forms: [CsvForm, ...CsvForm[]] = [form];
  if (hasBackslash) forms.push({ ...form, hasEscapes: !hasEscapes });
  if (isUnclear) forms.push(...forms.map((each) => ({ ...each, hasQuotes: false })));
  return forms;
}

async function listFitting(file: CsvFile, forms: readonly CsvForm[]): Promise<CsvForm[]> {
  const fitting: CsvForm[] = [];
  for (const form of forms) {
    try {
      await readAs(file, form);
      fitting.push(form);
    } catch (error) {
      if (error instanceof AmbiguousFile && fitting.length === 0) throw error;
    }
  }
  return fitting;
}

function describeForm({ name }: CsvFile, { hasQuotes, hasEscapes }: CsvForm): string {
  const quotes = hasQuotes ? "quotes surround fields" : "quotes are characters";
  return `${name}: ${quotes}, and backslashes are ${hasEscapes ? "escapes" : "characters"}`;
}

/** Looks at all lines without knowing where a quoted field begins or ends. */
async function examine({ name, path, table, quotes }: CsvFile): Promise<Traits> {
  const traits: Traits = { delimiter: ",", hasEscapes: false, isUnclear: false };
  let columns: (ColumnName | undefined)[] | undefined;
  let number = 0;
  for await (const lines of readCsvLines(name, path)) {
    for (const line of lines) {
      number++;
      const isBlank = columns === undefined ? !/[^\s,;"]/.test(line) : !/["\\]/.test(line);
      if (isBlank) continue;
      if (columns === undefined) traits.delimiter = findDelimiter(line);
      if (isSeparator(line)) continue;

      const cells = line.split(traits.delimiter);
      columns ??= cells.map((title) => findTitled(table, title.replaceAll('"', "")));
      if (cells.some((cell) => cell.startsWith('"'))) traits.quoteLine ??= number;
      for (const [at, cell] of cells.entries()) {
        if (!cell.includes("\\")) continue;
        if (cell !== "\\N") traits.backslashLine ??= number;
        if (/^\\[N0]$/.test(cell) && !hasFreeText(columns[at])) traits.hasEscapes = true;
      }
    }
  }
  const isPlain = traits.quoteLine === undefined && traits.backslashLine === undefined;
  traits.isUnclear = quotes === undefined && traits.delimiter === "\t" && !isPlain;
  return traits;
}

/** Reads all rows in one form. Throws if the file has another one. */
async function readAs(
  { name, path, table, key }: CsvFile,
  form: CsvForm,
  add?: AddRow,
): Promise<Header> {
  const columns = columnsOf(table);
  let header: Header | undefined;
  /** The index of each of the table's columns. */
  let indexes: number[] = [];
  for await (const records of readRecords(name, path, form)) {
    for (const record of records) {
      const { cells, line } = record;
      if (header) {
        if (!form.hasQuotes) refuseQuoted(name, record, header);
        const row = indexes.map((at) => cells[at] ?? "");
        add?.(row, line);
      } else {
        const found = findColumns(name, table, cells, key);
        indexes = columns.map((column) => found.columns.get(column) ?? -1);
        header = found;
      }
    }
  }
  if (header) return header;
  throw new Error(`${name} is empty; its first line must name the columns`);
}

/** Throws if a cell of a column that never has quotes, such as an id, begins with one. */
function refuseQuoted(name: string, { cells, line }: CsvRecord, { columns }: Header): void {
  for (const [column, at] of columns) {
    if (hasFreeText(column) || !cells[at]?.startsWith('"')) continue;
    const problem = `${column} begins with a quote, so quotes surround fields`;
    throw new Error(`${name}, line ${line}: ${problem}; leave out --quotes none`);
  }
}

/** Returns the most frequent separator. */
function findDelimiter(line: string): string {
  const count = (delimiter: string) => line.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}
