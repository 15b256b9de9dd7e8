/**
 * Reads users with their achievements, companies with their public users, and the results of searches. The
 * first call of a kind prepares its statements: to prepare all would take a tenth of a server's start.
 */
import { and, count, eq, exists, getTableColumns, gt, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { lazy } from "../../domain/lazy.ts";
import {
  type CompanySearchResult,
  compareRoles,
  type Role,
  type Stored,
  type User,
} from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import { NameSearch } from "../../search/find.ts";
import { MAX_SIMILAR } from "../../search/similar.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { achievement, company, encodeUnlocks, privateUser, role, user } from "../format/schema.ts";

type Missing = { missing: "profile_private" | "user_not_found" };

const givenId = sql.placeholder("id");
const givenAfter = sql.placeholder("after");
const givenLimit = sql.placeholder("limit");

export function userQueries(db: Database) {
  const statements = lazy(() => prepareForUsers(db));
  /** The JSON of achievement definitions, cached because many users unlock the same ones. */
  const definitions = new Map<number, string>();
  /** The keys are JSON arrays of role ids. Most users have one of a few sets of roles. */
  const roles = lazy(() => new LRUCache({ max: 1000, memoMethod: readRoles }));

  function readRoles(json: string): Role[] {
    const ids: number[] = JSON.parse(json);
    return ids.flatMap((id) => statements().role.get({ id }) ?? []).sort(compareRoles);
  }

  function definitionOf(id: number): string {
    const known = definitions.get(id);
    if (known !== undefined) return known;
    const json = JSON.stringify(statements().achievement.get({ id }));
    definitions.set(id, json);
    return json;
  }

  function missing(id: number): Missing {
    const isPrivate = statements().privateUser.get({ id });
    return { missing: isPrivate ? "profile_private" : "user_not_found" };
  }

  return {
    findProfile(id: number): Stored<User> | Missing {
      const row = statements().profile.get({ id });
      if (!row) return missing(id);

      const { company_id, company_name: name, company_role: role } = row;
      const hasCompany = company_id !== null && name !== null && role !== null;
      return {
        id,
        name: row.name,
        avatar_url: row.avatar_url,
        company: hasCompany ? { id: company_id, name, role } : null,
        roles: roles().memo(row.roles),
        created_at: formatTime(row.created_at),
      };
    },

    findName: (id: number) => statements().profile.get({ id })?.name ?? missing(id),

    /** Returns the unlocked achievements, newest first, as a JSON array. */
    findAchievements(id: number): string | Missing {
      const row = statements().unlocks.get({ id });
      return row ? encodeUnlocks(JSON.parse(row.achievements), definitionOf) : missing(id);
    },

    /** Lists up to `limit` ids of public users above `after`, in order. */
    listIds: (after: number, limit: number) => idsOf(statements().ids.all({ after, limit })),

    /** If several achievements have this icon, returns the one with the lowest id. */
    findAchievementByIcon: (icon: string) => statements().byIcon.get({ icon }),
  };
}

function prepareForUsers(db: Database) {
  const { achievements, folded, ...profile } = getTableColumns(user);
  const isUser = eq(user.id, givenId);
  const hasIcon = eq(achievement.icon, sql.placeholder("icon"));
  const users = db.select({ id: user.id }).from(user).where(gt(user.id, givenAfter));
  return {
    profile: prepareText(db, db.select(profile).from(user).where(isUser)),
    ids: prepareText(db, users.orderBy(user.id).limit(givenLimit)),
    unlocks: prepareText(db, db.select({ achievements }).from(user).where(isUser)),
    privateUser: prepareText(db, db.select().from(privateUser).where(eq(privateUser.id, givenId))),
    role: prepareText(db, db.select().from(role).where(eq(role.id, givenId))),
    achievement: prepareText(db, db.select().from(achievement).where(eq(achievement.id, givenId))),
    byIcon: prepareText(db, db.select().from(achievement).where(hasIcon).orderBy(achievement.id)),
  };
}

export function companyQueries(db: Database) {
  const statements = lazy(() => prepareForCompanies(db));
  return {
    find: (id: number): CompanySearchResult | undefined => statements().company.get({ id }),
    /** Lists up to `limit` ids above `after` of companies that have public users, in order. */
    listIds: (after: number, limit: number) => idsOf(statements().ids.all({ after, limit })),
    /** Counts the public users of a company, but at most up to `limit`. */
    countUsers: (id: number, limit: number) => statements().count.get({ id, limit })?.count ?? 0,
    /** Lists up to `limit` public users of a company whose ids are above `after`, by id. */
    listUsers: (id: number, after: number, limit: number) =>
      statements().users.all({ id, after, limit }),
  };
}

function prepareForCompanies(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const { name, avatar_url, company_role } = user;
  const employed = db.select().from(user).where(eq(user.company_id, company.id));
  const employing = and(gt(company.id, givenAfter), exists(employed));
  const companies = db.select({ id: company.id }).from(company).where(employing);

  const isMember = eq(user.company_id, givenId);
  const counted = db
    .select({ id: user.id })
    .from(user)
    .where(isMember)
    .limit(givenLimit)
    .as("counted");
  const members = db
    .select({ id: user.id, name, avatar_url, company_role })
    .from(user)
    .where(and(isMember, gt(user.id, givenAfter)));

  return {
    company: prepareText(db, db.select(fields).from(company).where(eq(company.id, givenId))),
    ids: prepareText(db, companies.orderBy(company.id).limit(givenLimit)),
    count: prepareText(db, db.select({ count: count().as("count") }).from(counted)),
    users: prepareText(db, members.orderBy(user.id).limit(givenLimit)),
  };
}

const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

/** A JSON array of ids in the order of results, so that one query reads all records. */
const found = sql`json_each(${sql.placeholder("ids")}) AS found`;
const foundId = sql<number>`found.value`;
const place = sql`found.key`;

export function searchQueries(db: Database) {
  const companyNames = lazy(() => new NameSearch(db.$client, "company"));
  const userNames = lazy(() => new NameSearch(db.$client, "user"));
  const statements = lazy(() => prepareForSearch(db));
  return {
    /** Pass this and `listUsers` to `readWithPauses` of reload.ts. */
    *listCompanies(query: string): Generator<void, CompanySearchResult[]> {
      const ids = yield* companyNames().find(query);
      return statements().companies.all({ ids: JSON.stringify(ids) });
    },
    /** Times are in Unix seconds. Only pages show and format them, because the API leaves them out. */
    *listUsers(query: string) {
      const ids = yield* userNames().find(query);
      return statements().users.all({ ids: JSON.stringify(ids) });
    },
    /** Returns up to three users and companies in all whose names differ from a query by a slip or two. */
    listSimilar(query: string) {
      const ofUsers = userNames().listSimilar(query);
      const ofCompanies = companyNames().listSimilar(query);
      const nearest = [...ofUsers, ...ofCompanies]
        .sort((a, b) => a.slips - b.slips)
        .slice(0, MAX_SIMILAR);
      const idsAmong = (names: typeof nearest) =>
        JSON.stringify(idsOf(names.filter((name) => nearest.includes(name))));
      return {
        drivers: statements().users.all({ ids: idsAmong(ofUsers) }),
        companies: statements().companies.all({ ids: idsAmong(ofCompanies) }),
      };
    },
    /** Whether a user has a name in another script, which is also found in Latin letters. */
    hasOtherScripts: () => userNames().hasOtherScripts(),
  };
}

function prepareForSearch(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const companies = db.select(fields).from(found).crossJoin(company).where(eq(company.id, foundId));

  const { id, name, avatar_url, company_name, created_at } = user;
  const companyName = sql<string | null>`${company_name}`.as("company");
  const users = db
    .select({ id, name, avatar_url, company: companyName, created_at })
    .from(found)
    .crossJoin(user)
    .where(eq(id, foundId));

  return {
    companies: prepareText(db, companies.orderBy(place)),
    users: prepareText(db, users.orderBy(place)),
  };
}
