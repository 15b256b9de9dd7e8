/**
 * The companies that users name in the column `company`, instead of their ids: those of the table
 * `companies` or, without it, companies that are made from the names. Names that fold to the same
 * text are one company.
 */
import { Check } from "@sinclair/typebox/value";
import type { RawRecord } from "../domain/dataset.ts";
import { findSimilar } from "../domain/invalid-value.ts";
import { Name } from "../domain/model.ts";
import { cleanName, printable } from "../domain/text.ts";
import { InvalidCell } from "../domain/validation-errors.ts";
import { hash } from "../files/bytes.ts";
import { fold } from "../search/fold.ts";

/** A name of a company, as users write it. */
interface Named {
  /** How many users write each spelling. Private ones do not make a company, nor its name. */
  spellings: Map<string, number>;
  /** How many users have it, public or not. */
  members: number;
}

export type CompanyNames = ReturnType<typeof createCompanyNames>;

/** `file` has the companies, if there is one. */
export function createCompanyNames(file: string | undefined) {
  const expected = file === undefined ? "a company's name" : `the name of a company in ${file}`;
  /** By the folded name. */
  const named = new Map<string, Named>();
  /** The companies that users can name. Undefined for a name that several have. */
  const known = new Map<string, { id: unknown; name: string } | undefined>();

  const refuse = (company: unknown, advice: string) => new InvalidCell(company, advice, expected);

  /** Lists the names from which companies are made. Private users do not make one. */
  const listMade = () => [...named].filter(([, { spellings }]) => spellings.size > 0);

  /** Adds a company of the table. */
  function know({ id, name }: RawRecord): void {
    const folded = fold(String(name));
    known.set(folded, known.has(folded) ? undefined : { id, name: String(name) });
  }

  return {
    know,

    /** Adds what some users write. */
    add(company: unknown, isPublic: boolean, users: number): void {
      if (typeof company !== "string") return;
      const folded = fold(company);
      const found = named.get(folded) ?? { spellings: new Map<string, number>(), members: 0 };
      named.set(folded, found);
      found.members += users;
      if (!isPublic || !isName(company)) return;
      found.spellings.set(company, (found.spellings.get(company) ?? 0) + users);
    },

    countMembers: (name: unknown): number => named.get(fold(String(name)))?.members ?? 0,

    /**
     * Makes a company of each name. Its id follows from the name, so that it stays the same whoever
     * joins or leaves.
     */
    make(): RawRecord[] {
      const taken = new Set<number>();
      return listMade()
        .sort()
        .map(([folded, { spellings, members }]) => {
          let id = Number.parseInt(hash("SHA256", folded, "hex").slice(0, 8), 16) >>> 1;
          while (taken.has(id) || id === 0) id++;
          taken.add(id);

          const [[name = ""] = []] = [...spellings].sort(([a, most], [b, other]) => {
            return other - most || (a < b ? -1 : 1);
          });
          const company = { type: "company", id, name, member_count: members };
          know(company);
          return company;
        });
    },

    /** Says how many companies were made. */
    describe(): string {
      const made = listMade();
      const others = made.reduce((sum, [, { spellings }]) => sum + spellings.size - 1, 0);
      const merged = others === 0 ? "" : ` (other spellings: ${others})`;
      return `made companies from their names: ${made.length}${merged}`;
    },

    /** Returns the id of the company with a name, or what is wrong with the name. */
    find(company: unknown): unknown {
      if (company instanceof InvalidCell) return refuse(company.value, company.advice);
      if (typeof company !== "string" || !isName(company)) return refuse(company, NO_NAME);
      const folded = fold(company);
      const found = known.get(folded);
      if (found) return found.id;
      if (known.has(folded)) return refuse(company, SEVERAL);

      const similar = findSimilar(folded, [...known.keys()]);
      const meant = similar === undefined ? undefined : known.get(similar)?.name;
      const question = meant === undefined ? "" : `; did you mean ${printable(meant)}?`;
      return refuse(company, question);
    },
  };
}

const NO_NAME = "; leave it empty for a user without a company";
const SEVERAL = "; several companies have this name, so write their ids in a column company_id";

/** A dash stands for no company, and so does the 0 that a formula gives for an empty cell. */
const isName = (text: string) => /[^\p{P}\s0]/u.test(text) && Check(Name, cleanName(text));
