/**
 * Generates a community of any size as dataset lines. The same options give the same bytes on every
 * platform: never use a clock, a locale, or functions whose last bit varies (pow, exp, log).
 */
import demo from "../../data/demo.json" with { type: "json" };
import data from "../../data/roles.json" with { type: "json" };
import type { DatasetLine } from "../domain/dataset.ts";
import type { CompanyLine, PrivateUserLine, PublicUserLine } from "../domain/model.ts";
import { formatTime } from "../domain/time.ts";
import { drawUnlocks, listAchievements } from "./achievements.ts";
import { type CompanyName, drawCompanyName, drawUserName } from "./names.ts";
import { createRandom } from "./random.ts";

export interface CommunityOptions {
  users: number;
  companies: number;
  seed: number;
  /** The first companies. */
  givenCompanies?: readonly GivenCompany[];
  /** Users with fixed properties, by id. */
  givenUsers?: ReadonlyMap<number, GivenUser>;
}

interface GivenCompany extends CompanyName {
  /** The minimum `member_count`. */
  members: number;
  /** Whether a given user is the owner. */
  isOwned: boolean;
}

interface GivenUser extends Partial<Pick<PublicUserLine, "name" | "company" | "roles">> {
  public?: boolean;
  eagerness?: number;
}

const PRIVATE_SHARE = 0.08;
const MEMBER_SHARE = 0.45;
const DAY = 86_400;
const OPENING = Date.parse("2014-02-03T00:00:00Z") / 1000;
const CLOSING = Date.parse("2026-10-31T00:00:00Z") / 1000;
const COMPANY_SALT = 0x51ed270b;

const { owner } = data.companyRoles;
const lead = data.companyRoles.lead.split(" ");
const staff = data.companyRoles.staff.split(" ");

export function* seedDataset(options: CommunityOptions): Generator<DatasetLine> {
  const community = createCommunity(options);
  for (const { id, name, hierarchy } of data.roles) yield { type: "role", id, name, hierarchy };
  yield* listAchievements();
  for (let index = 0; index < options.companies; index++) yield community.company(index);
  for (let index = 0; index < options.users; index++) yield community.user(index);
}

/** Returns functions that generate any line without the lines before it. */
export function createCommunity(options: CommunityOptions) {
  const { users, companies, seed, givenCompanies = [], givenUsers } = options;
  const seats = createSeats(companies, Math.floor(users * MEMBER_SHARE));
  const seatOf = scatter(users);
  const nameOf = (index: number) =>
    givenCompanies[index] ?? drawCompanyName(createRandom(seed ^ COMPANY_SALT, index));

  return {
    company(index: number): CompanyLine {
      const size = seats.sizeOf(index);
      // The platform also counts members who are not in the dataset.
      const count = size + createRandom(seed ^ index, -1).below(1 + size / 2);
      const members = Math.max(1, count, givenCompanies[index]?.members ?? 0);
      return { type: "company", id: index + 1, name: nameOf(index).name, member_count: members };
    },
    user(index: number): PublicUserLine | PrivateUserLine {
      // Skips every eleventh id, as if that account had been deleted.
      const id = 1 + index + Math.floor(index / 10);
      const random = createRandom(seed, index);
      const given = givenUsers?.get(id);
      const isPublic = given ? given.public !== false : !random.chance(PRIVATE_SHARE);
      if (!isPublic) return { type: "user", id, public: false };
      const seat = seats.find(seatOf(index));
      // Users with higher ids joined later, and the number of new users per year grows.
      const share = (index / users) * (1.6 - 0.6 * (index / users));
      const joined = OPENING + Math.floor((CLOSING - OPENING - DAY) * share) + random.below(3600);
      let company = given?.company ?? null;
      if (seat && !given) {
        const place = seat.place + (givenCompanies[seat.company]?.isOwned ? 1 : 0);
        const role = place === 0 ? owner : random.pick(place < 4 ? lead : staff);
        company = { id: seat.company + 1, role };
      }
      return {
        type: "user",
        id,
        public: true,
        name: given?.name ?? drawUserName(random, company ? nameOf(company.id - 1) : undefined),
        avatar_url: null,
        created_at: formatTime(joined),
        company,
        roles:
          given?.roles ??
          data.roles.filter(({ rarity }) => random.chance(rarity / 100)).map(({ id }) => id),
        achievements: drawUnlocks(random, {
          joined,
          until:
            given || random.chance(0.5) ? CLOSING : joined + (CLOSING - joined) * random.next(),
          eagerness: given?.eagerness ?? 4 * random.next() * random.next(),
          isOwner: company?.role === owner,
        }),
      };
    },
  };
}

/** A company gets 1.6 times as many seats each time its id can be divided by two. */
function createSeats(companies: number, members: number) {
  const classes: { id: number; count: number; size: number }[] = [];
  let total = 0;
  for (let id = 1, size = 1; id <= companies; id *= 2, size *= 1.6) {
    const count = Math.floor((companies + id) / (2 * id));
    classes.push({ id, count, size });
    total += count * size;
  }
  for (const sizeClass of classes) {
    sizeClass.size = Math.floor((sizeClass.size * members) / total);
  }
  return {
    sizeOf(company: number): number {
      return classes.findLast(({ id }) => (company + 1) % id === 0)?.size ?? 0;
    },
    find(seat: number): { company: number; place: number } | undefined {
      let rest = seat;
      for (const { id, count, size } of classes) {
        if (rest < count * size) {
          const company = id * (2 * Math.floor(rest / size) + 1) - 1;
          return { company, place: rest % size };
        }
        rest -= count * size;
      }
      return undefined;
    },
  };
}

/** A permutation of 0 to `count` − 1 that moves neighbours far apart. Products stay below 2^53. */
function scatter(count: number): (index: number) => number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  // Close to `count` divided by the golden ratio, and coprime to `count`.
  let step = Math.max(1, Math.floor(Math.min(count, 2 ** 26) * 0.618));
  while (divisor(step, count) !== 1) step--;
  return (index) => (index * step) % count;
}

/** Generates the demo: a fixed seed, with the companies and notable drivers in data/demo.json. */
export function demoDataset(): Generator<DatasetLine> {
  const owned = new Set(demo.users.map(({ role, company }) => role === owner && company));
  const givenCompanies = demo.companies.map((company) => {
    return { tag: "", members: 0, ...company, isOwned: owned.has(company.name) };
  });
  const givenUsers = new Map(
    demo.users.map(({ id, company, role, ...given }) => {
      const index = demo.companies.findIndex(({ name }) => name === company);
      return [id, role ? { ...given, company: { id: index + 1, role } } : given];
    }),
  );
  const companies = givenCompanies.length;
  return seedDataset({ users: 3000, companies, seed: 42, givenCompanies, givenUsers });
}
