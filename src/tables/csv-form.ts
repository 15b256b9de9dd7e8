/**
 * Finds out how a CSV file is written: what separates its fields, and what quotes and backslashes mean.
 * First looks at all lines. If they leave several forms open, reads the lines in all of these. For example,
 * with a tab between the fields of companies.csv:
 *
 *     id  name            member_count
 *     1   "Fast" Lines    12
 *     2   Left \\ Right   \N
 *
 * | quotes | backslashes | in this form |
 * |---|---|---|
 * | surround fields | are characters | line 2 goes on after a closing quote, so the form does not fit |
 * | surround fields | are escapes | the same |
 * | are characters | are characters | the names are `"Fast" Lines` and `Left \\ Right` |
 * | are characters | are escapes | the names are `"Fast" Lines` and `Left \ Right` |
 *
 * Two forms fit. The last is chosen, because of the `\N`, which only programs that escape write.
 * Without it, nothing would show which names are right, so the file would be ambiguous.
 */
import { type ColumnName, hasFreeText } from "./columns.ts";
import { isSeparator, readCsvLines } from "./csv-lines.ts";
import { AmbiguousFile, type CsvFile, type CsvForm, readRows, WrongWidth } from "./csv-records.ts";
import { findTitled } from "./header.ts";

/** The facts that the lines of a file show by themselves. */
interface Traits {
  /** Undefined for a file of blank lines. */
  delimiter?: string;
  /** The first line with a field that begins with a quote. */
  quoteLine?: number;
  /** The first line with a backslash that may be an escape. */
  backslashLine?: number;
  /** Whether \N or \0 stands where people write nothing. Then backslashes are escapes. */
  hasEscapes: boolean;
}

/**
 * Returns the form of a file. A note says what quotes and backslashes mean, if only the rows could show
 * it. Throws an {@link AmbiguousFile} if they do not. A file that fits no form has the likeliest one,
 * and reading it says what is wrong.
 */
export async function findForm(file: CsvFile): Promise<{ form: CsvForm; notes: string[] }> {
  const traits = await examine(file);
  const forms = listForms(file, traits);
  if (forms.length === 1) return { form: forms[0], notes: [] };

  const fitting = await listFitting(file, forms);
  const form = chooseForm(file, traits, fitting) ?? forms[0];
  if (file.quotes !== undefined || traits.delimiter !== "\t") return { form, notes: [] };
  const quotes = form.hasQuotes ? "quotes surround fields" : "quotes are characters";
  const backslashes = `backslashes are ${form.hasEscapes ? "escapes" : "characters"}`;
  return { form, notes: [`${file.name}: ${quotes}, and ${backslashes}`] };
}

/** Looks at all lines without knowing where a quoted field begins or ends. */
async function examine({ name, path, table }: CsvFile): Promise<Traits> {
  const traits: Traits = { hasEscapes: false };
  let columns: (ColumnName | undefined)[] | undefined;
  for await (const lines of readCsvLines(name, path)) {
    for (const { number, text } of lines) {
      // Without quotes and backslashes, only the header shows anything.
      const shown = columns === undefined ? /[^\s,;"]/ : /["\\]/;
      if (!shown.test(text)) continue;
      traits.delimiter ??= findDelimiter(text);
      if (isSeparator(text)) continue;

      const cells = text.split(traits.delimiter);
      columns ??= cells.map((title) => findTitled(table, title.replaceAll('"', "")));
      if (cells.some((cell) => cell.startsWith('"'))) traits.quoteLine ??= number;
      for (const [at, cell] of cells.entries()) {
        if (!cell.includes("\\")) continue;
        if (cell !== "\\N") traits.backslashLine ??= number;
        if (/^\\[N0]$/.test(cell) && !hasFreeText(columns[at])) traits.hasEscapes = true;
      }
    }
  }
  return traits;
}

/** Returns the separator that is most frequent outside quotes. A line such as sep=; has only one. */
function findDelimiter(line: string): string {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const count = (delimiter: string) => bare.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, other) => (count(other) > count(best) ? other : best));
}

/** The forms that a file can have by its traits and its operator, the likelier ones first. */
function listForms(
  { quotes }: CsvFile,
  { delimiter = ",", quoteLine, backslashLine }: Traits,
): [CsvForm, ...CsvForm[]] {
  const hasBackslash = backslashLine !== undefined;
  const hasQuotes = quotes !== "none";
  // Programs that surround nothing with quotes escape what separates fields.
  const form = { delimiter, hasQuotes, hasEscapes: hasBackslash && !hasQuotes };
  const forms: [CsvForm, ...CsvForm[]] = [form];
  if (hasBackslash) forms.push({ ...form, hasEscapes: !form.hasEscapes });
  const isUnclear = quotes === undefined && (hasBackslash || quoteLine !== undefined);
  if (isUnclear) forms.push(...forms.map((each) => ({ ...each, hasQuotes: false })));
  return forms;
}

/**
 * Reads the file in these forms. Returns those that fit or, if none does, the first in which only the width of a
 * row is wrong. Throws if the likeliest of them is in doubt.
 */
async function listFitting(file: CsvFile, forms: readonly CsvForm[]): Promise<readonly CsvForm[]> {
  const fitting: CsvForm[] = [];
  let closest: CsvForm | undefined;
  for (const form of forms) {
    // Only with tabs, many programs write no quotes around fields.
    if (fitting.length > 0 && !form.hasQuotes && form.delimiter !== "\t") break;
    try {
      await readRows(file, form, () => {});
      fitting.push(form);
    } catch (error) {
      if (error instanceof AmbiguousFile && fitting.length === 0) throw error;
      if (error instanceof WrongWidth) closest ??= form;
    }
  }
  return closest && fitting.length === 0 ? [closest] : fitting;
}

/** Chooses one of the forms that fit. Those that are as likely must give the same people. */
function chooseForm(
  { name, quotes }: CsvFile,
  { delimiter, quoteLine, backslashLine, hasEscapes }: Traits,
  fitting: readonly CsvForm[],
): CsvForm | undefined {
  const escaped = fitting.filter((form) => hasEscapes && form.hasEscapes);
  const likely = escaped.length > 0 ? escaped : fitting;
  const [form] = likely;
  if (form === undefined || quotes !== undefined) return form;

  if (!form.hasQuotes && delimiter !== "\t") {
    throw new AmbiguousFile(name, quoteLine ?? backslashLine);
  }
  const isOther = (trait: "hasQuotes" | "hasEscapes") =>
    likely.some((other) => other[trait] !== form[trait]);
  if (quoteLine !== undefined && isOther("hasQuotes")) throw new AmbiguousFile(name, quoteLine);
  if (isOther("hasEscapes")) throw new AmbiguousFile(name, backslashLine);
  return form;
}
