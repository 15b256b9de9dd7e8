/** Reads users with their achievements, companies with their users, and ids for the sitemap. */
import { and, between, count, eq, exists, getTableColumns, gt, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import {
  type CompanySearchResult,
  compareRoles,
  completeAvatar,
  type Role,
  type User,
} from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import type { NameKind } from "../../search/name-index.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import {
  achievement,
  company,
  companyPage,
  encodeUnlocks,
  privateUser,
  role,
  user,
  userPage,
} from "../format/schema.ts";

type Missing = { missing: "profile_private" | "user_not_found" };

/** How many companies {@link Companies} lists by size. */
const LARGEST_COMPANIES = 12;
const id = sql.placeholder("id");

export class Users {
  readonly sitemap: IdPages;
  readonly #statements: ReturnType<typeof prepareForUsers>;
  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  readonly #definitions = new Map<number, string>();
  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  readonly #roles: LRUCache<string, Role[]>;

  constructor(db: Database) {
    this.sitemap = new IdPages(db, "user");
    this.#statements = prepareForUsers(db);
    this.#roles = new LRUCache({ max: 1000, memoMethod: (json: string) => this.#readRoles(json) });
  }

  /** If the avatar is only a path, `baseUrl` is prepended. */
  findProfile(id: number, baseUrl: string): User | Missing {
    const row = this.#statements.profile.get(id);
    if (!row) return this.#missing(id);
    const { company_id, company_name: name, company_role: role } = row;
    const hasCompany = company_id !== null && name !== null && role !== null;
    return {
      id,
      name: row.name,
      avatar_url: completeAvatar(id, row.avatar_url, baseUrl),
      company: hasCompany ? { id: company_id, name, role } : null,
      roles: this.#roles.memo(row.roles),
      created_at: formatTime(row.created_at),
    };
  }

  findName(id: number): string | Missing {
    return this.#statements.profile.get(id)?.name ?? this.#missing(id);
  }

  /** Returns the unlocked achievements, newest first, as a JSON array. */
  findAchievements(id: number): string | Missing {
    const row = this.#statements.unlocks.get(id);
    if (!row) return this.#missing(id);
    return encodeUnlocks(JSON.parse(row.achievements), this.#definitionOf);
  }

  /** If several achievements have this icon, returns the one with the lowest id. */
  findAchievementByIcon(icon: string) {
    return this.#statements.byIcon.get({ icon });
  }

  readonly #definitionOf = (id: number): string => {
    const known = this.#definitions.get(id);
    if (known !== undefined) return known;
    const json = JSON.stringify(this.#statements.achievement.get({ id }));
    this.#definitions.set(id, json);
    return json;
  };

  #readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => this.#statements.role.get({ id }) ?? []).sort(compareRoles);
  }

  #missing(id: number): Missing {
    const isPrivate = this.#statements.privateUser.get({ id });
    return { missing: isPrivate ? "profile_private" : "user_not_found" };
  }
}

function prepareForUsers(db: Database) {
  const { achievements, folded, ...profile } = getTableColumns(user);
  const hasId = eq(user.id, id);
  return {
    profile: prepareText(db, db.select(profile).from(user).where(hasId)),
    unlocks: prepareText(db, db.select({ achievements }).from(user).where(hasId)),
    privateUser: db.select().from(privateUser).where(eq(privateUser.id, id)).prepare(),
    role: db.select().from(role).where(eq(role.id, id)).prepare(),
    achievement: db.select().from(achievement).where(eq(achievement.id, id)).prepare(),
    byIcon: db
      .select()
      .from(achievement)
      .where(eq(achievement.icon, sql.placeholder("icon")))
      .orderBy(achievement.id)
      .prepare(),
  };
}

export class Companies {
  readonly sitemap: IdPages;
  readonly #statements: ReturnType<typeof prepareForCompanies>;

  constructor(db: Database) {
    this.sitemap = new IdPages(db, "company");
    this.#statements = prepareForCompanies(db);
  }

  find(id: number): CompanySearchResult | undefined {
    return this.#statements.company.get({ id });
  }

  listLargest(): CompanySearchResult[] {
    return this.#statements.largest.all();
  }

  /** Counts the public users of a company, but at most up to `limit`. */
  countUsers(id: number, limit: number): number {
    return this.#statements.count.get({ id, limit })?.count ?? 0;
  }

  /** Lists up to `limit` public users of a company whose ids are above `after`, by id. */
  listUsers(id: number, after: number, limit: number, baseUrl: string) {
    return this.#statements.users.all({ id, after, limit }).map((user) => ({
      ...user,
      avatar_url: completeAvatar(user.id, user.avatar_url, baseUrl),
    }));
  }
}

function prepareForCompanies(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const { name, avatar_url, company_role } = user;
  const limit = sql.placeholder("limit");
  const counted = db.select({ id: user.id }).from(user).where(eq(user.company_id, id));
  return {
    company: db.select(fields).from(company).where(eq(company.id, id)).prepare(),
    users: db
      .select({ id: user.id, name, avatar_url, role: company_role })
      .from(user)
      .where(and(eq(user.company_id, id), gt(user.id, sql.placeholder("after"))))
      .orderBy(user.id)
      .limit(limit)
      .prepare(),
    count: db.select({ count: count() }).from(counted.limit(limit).as("counted")).prepare(),
    largest: db
      .select(fields)
      .from(sql`company_rank`)
      .innerJoin(company, eq(company.id, sql`company_rank.id`))
      .orderBy(sql`company_rank.rank`)
      .limit(LARGEST_COMPANIES)
      .prepare(),
  };
}

/** The ids of public users, or of companies that have one, in pages for the sitemap. */
class IdPages {
  readonly #statements: ReturnType<typeof prepareForPages>;

  constructor(db: Database, kind: NameKind) {
    this.#statements = prepareForPages(db, kind);
  }

  countPages(): number {
    return this.#statements.count.get()?.pages ?? 0;
  }

  /** Lists the ids on a page. The first page is 0. */
  listIds(page: number): number[] {
    const first = this.#statements.first.get({ page });
    const next = this.#statements.first.get({ page: page + 1 });
    if (!first) return [];
    const to = next ? next.id - 1 : Number.MAX_SAFE_INTEGER;
    return JSON.parse(this.#statements.ids.get({ from: first.id, to })?.ids ?? "[]");
  }
}

function prepareForPages(db: Database, kind: NameKind) {
  const { records, pages, listed } = {
    user: { records: user, pages: userPage, listed: undefined },
    company: { records: company, pages: companyPage, listed: hasUser(db) },
  }[kind];
  return {
    count: db.select({ pages: count() }).from(pages).prepare(),
    first: db
      .select({ id: pages.first_id })
      .from(pages)
      .orderBy(pages.first_id)
      .limit(1)
      .offset(sql.placeholder("page"))
      .prepare(),
    // One value, because thousands of rows would take several times as much memory.
    ids: db
      .select({ ids: sql<string>`json_group_array(${records.id} ORDER BY ${records.id})` })
      .from(records)
      .where(and(between(records.id, sql.placeholder("from"), sql.placeholder("to")), listed))
      .prepare(),
  };
}

function hasUser(db: Database) {
  return exists(db.select({ id: user.id }).from(user).where(eq(user.company_id, company.id)));
}
