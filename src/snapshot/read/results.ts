/** Reads the users and companies that a search has found. */
import { eq, sql } from "drizzle-orm";
import { completeAvatar } from "../../domain/avatar-url.ts";
import type { CompanySearchResult, UserSearchResult } from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import { NameSearch } from "../../search/find.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";

/** A JSON array of ids in the order of results: twice as fast as reading one record at a time. */
const found = sql`json_each(${sql.placeholder("ids")}) AS found`;
const foundId = sql<number>`found.value`;
const place = sql`found.key`;

export class Results {
  readonly #companyNames: NameSearch;
  readonly #userNames: NameSearch;
  readonly #companies: ReturnType<typeof prepareCompanies>;
  readonly #users: ReturnType<typeof prepareUsers>;

  constructor(db: Database) {
    this.#companyNames = new NameSearch(db.$client, "company");
    this.#userNames = new NameSearch(db.$client, "user");
    this.#companies = prepareCompanies(db);
    this.#users = prepareUsers(db);
  }

  listCompanies(spellings: string[]): CompanySearchResult[] {
    return this.#companies.all(JSON.stringify(this.#companyNames.find(spellings)));
  }

  listUsers(spellings: string[], baseUrl: string): UserSearchResult[] {
    return this.#findUsers(spellings).map(({ id, name, avatar_url, company }) => ({
      id,
      name,
      avatar_url: completeAvatar(id, avatar_url, baseUrl),
      company,
    }));
  }

  /** Like {@link listUsers}, with the time at which each account was created. */
  listDatedUsers(spellings: string[], baseUrl: string) {
    return this.#findUsers(spellings).map((hit) => ({
      ...hit,
      avatar_url: completeAvatar(hit.id, hit.avatar_url, baseUrl),
      created_at: formatTime(hit.created_at),
    }));
  }

  /** Whether users can be found by the Latin spelling of a name in another script. */
  hasLatinSpellings(): boolean {
    return this.#userNames.hasLatinSpellings();
  }

  #findUsers(spellings: string[]) {
    return this.#users.all(JSON.stringify(this.#userNames.find(spellings)));
  }
}

function prepareCompanies(db: Database) {
  const companies = db
    .select({ id: company.id, name: company.name, member_count: company.member_count })
    .from(found)
    .crossJoin(company)
    .where(eq(company.id, foundId))
    .orderBy(place);
  return prepareText(db, companies);
}

function prepareUsers(db: Database) {
  const { id, name, avatar_url, company_name, created_at } = user;
  const companyName = sql<string | null>`${company_name}`.as("company");
  const users = db
    .select({ id, name, avatar_url, company: companyName, created_at })
    .from(found)
    .crossJoin(user)
    .where(eq(id, foundId))
    .orderBy(place);
  return prepareText(db, users);
}
