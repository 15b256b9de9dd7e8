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

/** How many companies {@link openCompanies} lists by size. */
const LARGEST_COMPANIES = 12;
const id = sql.placeholder("id");

export function openUsers(db: Database) {
  const { achievements, folded, ...profile } = getTableColumns(user);
  const readUser = prepareText(db, db.select(profile).from(user).where(eq(user.id, id)));
  const readUnlocks = prepareText(
    db,
    db.select({ achievements }).from(user).where(eq(user.id, id)),
  );
  const readPrivate = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  const readRole = db.select().from(role).where(eq(role.id, id)).prepare();
  const readAchievement = db.select().from(achievement).where(eq(achievement.id, id)).prepare();
  const readByIcon = db
    .select()
    .from(achievement)
    .where(eq(achievement.icon, sql.placeholder("icon")))
    .orderBy(achievement.id)
    .prepare();

  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  const definitions = new Map<number, string>();
  function definitionOf(id: number): string {
    const json = definitions.get(id) ?? JSON.stringify(readAchievement.get({ id }));
    definitions.set(id, json);
    return json;
  }

  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roleLists = new LRUCache<string, Role[]>({ max: 1000, memoMethod: readRoles });
  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => readRole.get({ id }) ?? []).sort(compareRoles);
  }

  function missing(id: number): Missing {
    return { missing: readPrivate.get({ id }) ? "profile_private" : "user_not_found" };
  }

  return {
    /** If the avatar is only a path, `baseUrl` is prepended. */
    findProfile(id: number, baseUrl: string): User | Missing {
      const row = readUser.get(id);
      if (!row) return missing(id);
      const { company_id, company_name: name, company_role: role } = row;
      const hasCompany = company_id !== null && name !== null && role !== null;
      return {
        id,
        name: row.name,
        avatar_url: completeAvatar(id, row.avatar_url, baseUrl),
        company: hasCompany ? { id: company_id, name, role } : null,
        roles: roleLists.memo(row.roles),
        created_at: formatTime(row.created_at),
      };
    },
    findName: (id: number): string | Missing => readUser.get(id)?.name ?? missing(id),
    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = readUnlocks.get(id);
      return row ? encodeUnlocks(JSON.parse(row.achievements), definitionOf) : missing(id);
    },
    /** If several achievements have this icon, returns the one with the lowest id. */
    findAchievementByIcon: (icon: string) => readByIcon.get({ icon }),
    sitemap: openIdPages(db, "user"),
  };
}

export function openCompanies(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const readCompany = db.select(fields).from(company).where(eq(company.id, id)).prepare();
  const { name, avatar_url, company_role } = user;
  const readUsers = db
    .select({ id: user.id, name, avatar_url, role: company_role })
    .from(user)
    .where(and(eq(user.company_id, id), gt(user.id, sql.placeholder("after"))))
    .orderBy(user.id)
    .limit(sql.placeholder("limit"))
    .prepare();

  const counted = db.select({ id: user.id }).from(user).where(eq(user.company_id, id));
  const readCount = db
    .select({ count: count() })
    .from(counted.limit(sql.placeholder("limit")).as("counted"))
    .prepare();

  const readLargest = db
    .select(fields)
    .from(sql`company_rank`)
    .innerJoin(company, eq(company.id, sql`company_rank.id`))
    .orderBy(sql`company_rank.rank`)
    .limit(LARGEST_COMPANIES)
    .prepare();
  return {
    find: (id: number) => readCompany.get({ id }),
    listLargest: (): CompanySearchResult[] => readLargest.all(),
    /** Counts the public users of a company, but at most up to `limit`. */
    countUsers: (id: number, limit: number): number => readCount.get({ id, limit })?.count ?? 0,
    /** Lists up to `limit` public users of a company whose ids are above `after`, by id. */
    listUsers: (id: number, after: number, limit: number, baseUrl: string) =>
      readUsers.all({ id, after, limit }).map((user) => ({
        ...user,
        avatar_url: completeAvatar(user.id, user.avatar_url, baseUrl),
      })),
    sitemap: openIdPages(db, "company"),
  };
}

/** Lists the ids of public users, or of companies that have one, in pages for the sitemap. */
function openIdPages(db: Database, kind: NameKind) {
  const { records, pages, listed } = {
    user: { records: user, pages: userPage, listed: undefined },
    company: { records: company, pages: companyPage, listed: hasUser(db) },
  }[kind];
  const countPages = db.select({ pages: count() }).from(pages).prepare();
  const page = sql.placeholder("page");
  const readFirst = db
    .select({ id: pages.first_id })
    .from(pages)
    .orderBy(pages.first_id)
    .limit(1)
    .offset(page)
    .prepare();

  // One value, because thousands of rows would take several times as much memory.
  const readIds = db
    .select({ ids: sql<string>`json_group_array(${records.id} ORDER BY ${records.id})` })
    .from(records)
    .where(and(between(records.id, sql.placeholder("from"), sql.placeholder("to")), listed))
    .prepare();
  return {
    countPages: (): number => countPages.get()?.pages ?? 0,
    /** Lists the ids on a page. The first page is 0. */
    listIds(page: number): number[] {
      const first = readFirst.get({ page });
      const next = readFirst.get({ page: page + 1 });
      if (!first) return [];
      const to = next ? next.id - 1 : Number.MAX_SAFE_INTEGER;
      return JSON.parse(readIds.get({ from: first.id, to })?.ids ?? "[]");
    },
  };
}

function hasUser(db: Database) {
  return exists(db.select({ id: user.id }).from(user).where(eq(user.company_id, company.id)));
}
