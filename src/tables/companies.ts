/**
 * The companies of users: how many members each has, and which one a user means whose column `company`
 * has a name instead of an id. That is a company of the table `companies` or, without it, one that is
 * made from the names. Names that fold to the same text are one company.
 */
import { Check } from "@sinclair/typebox/value";
import { Name } from "../domain/model.ts";
import type { Item, RawRecord } from "../domain/records.ts";
import { cleanName } from "../domain/text.ts";
import { InvalidCell } from "../domain/validation-errors.ts";
import { hash } from "../files/bytes.ts";
import { fold } from "../search/fold.ts";
import { type Cells, toCells } from "./columns.ts";
import type { Table, Tables } from "./table.ts";

export type Companies = Awaited<ReturnType<typeof readCompanies>>;

/** Reads which companies the users have. */
export async function readCompanies(tables: Tables) {
  const users = tables.get("users");
  const members = users?.columns.has("company_id") ? await countMembers(users) : undefined;
  /** The names that users write, by the folded name. */
  const written = users?.columns.has("company") ? await readNames(users) : undefined;
  /** The ids of the companies that users can name, by the folded name. Undefined if several have it. */
  const named = new Map<string, unknown>();

  /**
   * Returns the record of a company, whose members it counts unless the company says how many it has. From
   * then on, users can name it. If several companies have a name, its users count only for the first one.
   */
  function toRecord(cells: Cells): RawRecord {
    const folded = fold(String(cells.name));
    const isFirst = !named.has(folded);
    named.set(folded, isFirst ? cells.id : undefined);
    const count = isFirst ? written?.get(folded)?.members : 0;
    const member_count = members?.get(cells.id) ?? count ?? 0;
    return { type: "company", member_count, ...cells };
  }

  /** Returns the id of the company with a name, or what is wrong with the name. */
  function find(company: unknown): unknown {
    const file = tables.get("companies")?.file;
    const expected = file === undefined ? "a company's name" : `the name of a company in ${file}`;
    if (company instanceof InvalidCell) return new InvalidCell(company.value, expected);
    if (typeof company !== "string" || !isName(company)) return new InvalidCell(company, expected);
    const folded = fold(company);
    const advice = named.has(folded) ? "; several companies have this name" : "";
    return named.get(folded) ?? new InvalidCell(company, expected, advice);
  }

  return {
    toRecord,
    find,
    /** Makes the companies that users name, unless there is a table of them. Adds a note of how many. */
    make(notes: string[]): Item[] {
      if (!users || !written || tables.has("companies")) return [];
      const made = makeCompanies(written);
      notes.push(`${users.file}: made companies from their names: ${made.length}`);
      return made.map((cells) => ({ record: toRecord(cells) }));
    },
  };
}

/** Counts the users of each company, public or not, by the id of the company. */
async function countMembers(users: Table): Promise<Map<unknown, number>> {
  const members = new Map<unknown, number>();
  const columns = "q.company_id AS company_id, COUNT(*) AS members";
  for (const row of await users.query("GROUP BY q.company_id", columns)) {
    const id = toCells(row, users.format).company_id;
    members.set(id, (members.get(id) ?? 0) + Number(row.members));
  }
  return members;
}

/** A name of a company, as users write it. */
interface WrittenName {
  /** How many users write each spelling. Private ones do not make a company, nor its name. */
  spellings: Map<string, number>;
  /** How many users have it, public or not. */
  members: number;
}

/** Reads how users write the names of their companies. */
async function readNames({ format, query }: Table): Promise<Map<string, WrittenName>> {
  const names = new Map<string, WrittenName>();
  const columns = `${format.dialect.cast("q.company")} AS company, q.public AS public, COUNT(*) AS users`;
  for (const row of await query("GROUP BY 1, 2", columns)) {
    const { company, public: isPublic } = toCells(row, format);
    if (typeof company !== "string") continue;

    const users = Number(row.users);
    const folded = fold(company);
    const name = names.get(folded) ?? { spellings: new Map<string, number>(), members: 0 };
    names.set(folded, name);
    name.members += users;
    if (isPublic !== true || !isName(company)) continue;
    name.spellings.set(company, (name.spellings.get(company) ?? 0) + users);
  }
  return names;
}

/**
 * Makes a company of each name. Its id follows from the name, so that it stays the same when users join or
 * leave. Two of 100,000 names have the same id with a probability of one in a million, and then the import
 * fails.
 */
function makeCompanies(names: ReadonlyMap<string, WrittenName>): Cells[] {
  return [...names]
    .filter(([, { spellings }]) => spellings.size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folded, { spellings }]) => {
      const id = Number.parseInt(hash("SHA256", folded, "hex").slice(0, 13), 16);
      const [[name = ""] = []] = [...spellings].sort(([a, countOfA], [b, countOfB]) => {
        return countOfB - countOfA || (a < b ? -1 : 1);
      });
      return { id, name };
    });
}

/** A dash, or the 0 that a formula gives for an empty cell, is no name, so it is an error. */
const isName = (text: string) => /[^\p{P}\s0]/u.test(text) && Check(Name, cleanName(text));
