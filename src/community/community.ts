/**
 * Generates a community of any size as dataset lines. The same options give the same bytes on every
 * platform: never use a clock, a locale, or functions whose last bit varies (pow, exp, log).
 */
import achievements from "../../data/achievements.json" with { type: "json" };
import demo from "../../data/demo.json" with { type: "json" };
import data from "../../data/roles.json" with { type: "json" };
import type { DatasetLine } from "../domain/dataset.ts";
import type { CompanyLine, PrivateUserLine, PublicUserLine } from "../domain/model.ts";
import { Random } from "../domain/random.ts";
import { formatTime } from "../domain/time.ts";
import { type CompanyName, drawCompanyName, drawUserName } from "./names.ts";

export interface CommunityOptions {
  users: number;
  companies: number;
  seed: number;
  /** Whether to begin with the companies, and include the users, of data/demo.json. */
  isDemo?: boolean;
}

const PRIVATE_SHARE = 0.08;
const MEMBER_SHARE = 0.45;
const DAY = 86_400;
const YEAR = 31_557_600;
const OPENING = Date.parse("2014-02-03T00:00:00Z") / 1000;
const CLOSING = Date.parse("2026-10-31T00:00:00Z") / 1000;
const COMPANY_SALT = 0x51ed270b;

const { owner } = data.companyRoles;
const lead = data.companyRoles.lead.split(" ");
const staff = data.companyRoles.staff.split(" ");

/** `members` is the minimum `member_count`. An owned company's owner is one of `demoUsers`. */
const demoCompanies = demo.companies.map((company) => {
  const isOwned = demo.users.some((user) => user.company === company.name && user.role === owner);
  return { tag: "", members: 0, ...company, isOwned };
});
/** Users with fixed properties, by id. */
const demoUsers = new Map(
  demo.users.map(({ id, company, role, ...given }) => {
    const index = demo.companies.findIndex(({ name }) => name === company);
    return [id, { ...given, company: role ? { id: index + 1, role } : null }];
  }),
);

export function* seedDataset(options: CommunityOptions): Generator<DatasetLine> {
  const community = createCommunity(options);
  for (const { id, name, hierarchy } of data.roles) yield { type: "role", id, name, hierarchy };
  for (const { id, name, description, icon, kind, tier, points } of achievements) {
    yield { type: "achievement", id, name, description, icon, kind, tier, points };
  }
  for (let index = 0; index < options.companies; index++) yield community.company(index);
  for (let index = 0; index < options.users; index++) yield community.user(index);
}

/** Generates the demo: a fixed seed, with the companies and notable users in data/demo.json. */
export function demoDataset(): Generator<DatasetLine> {
  return seedDataset({ users: 3000, companies: demoCompanies.length, seed: 42, isDemo: true });
}

/** Generates any record without the records before it. */
export function createCommunity({ users, companies, seed, isDemo = false }: CommunityOptions) {
  const given = isDemo ? demoCompanies : [];
  const seats = createSeats(companies, Math.floor(users * MEMBER_SHARE));
  const seatOf = scatter(users);

  const nameOf = (index: number): CompanyName =>
    given[index] ?? drawCompanyName(new Random(seed ^ COMPANY_SALT, index));

  /** Users with higher ids joined later, and the number of new users per year grows. */
  function drawJoined(random: Random, index: number): number {
    const part = index / users;
    const share = part * (1.6 - 0.6 * part);
    return OPENING + Math.floor((CLOSING - OPENING - DAY) * share) + random.below(3600);
  }

  function drawCompany(random: Random, index: number) {
    const seat = seats.find(seatOf(index));
    if (!seat) return null;
    const rank = seat.number + (given[seat.company]?.isOwned ? 1 : 0);
    const role = rank === 0 ? owner : random.pick(rank < 4 ? lead : staff);
    return { id: seat.company + 1, role };
  }

  return {
    company(index: number): CompanyLine {
      const size = seats.sizeOf(index);
      // The platform also counts members who are not in the dataset.
      const count = size + new Random(seed ^ index, -1).below(1 + size / 2);
      const member_count = Math.max(1, count, given[index]?.members ?? 0);
      return { type: "company", id: index + 1, name: nameOf(index).name, member_count };
    },

    user(index: number): PublicUserLine | PrivateUserLine {
      // Skips every eleventh id, as if that account had been deleted.
      const id = 1 + index + Math.floor(index / 10);
      const random = new Random(seed, index);
      const known = isDemo ? demoUsers.get(id) : undefined;
      const isPrivate = known ? known.public === false : random.chance(PRIVATE_SHARE);
      if (isPrivate) return { type: "user", id, public: false };

      // The order of these draws is part of every seed.
      const joined = drawJoined(random, index);
      const company = known ? known.company : drawCompany(random, index);
      const name =
        known?.name ?? drawUserName(random, company ? nameOf(company.id - 1) : undefined);
      const roles = known?.roles ?? drawRoles(random);
      const isActive = known !== undefined || random.chance(0.5);
      const until = isActive ? CLOSING : joined + (CLOSING - joined) * random.next();
      const eagerness = known?.eagerness ?? 4 * random.next() * random.next();
      const isOwner = company?.role === owner;
      const achievements = drawUnlocks(random, { joined, until, eagerness, isOwner });

      return {
        type: "user",
        id,
        public: true,
        name,
        avatar_url: null,
        created_at: formatTime(joined),
        company,
        roles,
        achievements,
      };
    },
  };
}

function drawRoles(random: Random): number[] {
  return data.roles.filter(({ rarity }) => random.chance(rarity / 100)).map(({ id }) => id);
}

interface SeatClass {
  /** The id of the first company in this class. The others follow at twice this distance. */
  id: number;
  count: number;
  /** How many seats each of these companies has. */
  size: number;
}

/**
 * A company gets 1.6 times as many seats each time its id can be divided by two, so most are small and a
 * few are large. A class has the companies of one size, so nothing is stored for a single company.
 */
function createSeats(companies: number, members: number) {
  const classes: SeatClass[] = [];
  let size = 1;
  for (let id = 1; id <= companies; id *= 2) {
    classes.push({ id, count: Math.floor((companies + id) / (2 * id)), size });
    size *= 1.6;
  }
  const total = classes.reduce((sum, { count, size }) => sum + count * size, 0);
  for (const each of classes) each.size = Math.floor((each.size * members) / total);

  return {
    sizeOf: (company: number): number =>
      classes.findLast(({ id }) => (company + 1) % id === 0)?.size ?? 0,

    /** Returns the company with this seat, and the number of the seat there, from 0. */
    find(seat: number): { company: number; number: number } | undefined {
      let rest = seat;
      for (const { id, count, size } of classes) {
        if (rest < count * size) {
          return { company: id * (2 * Math.floor(rest / size) + 1) - 1, number: rest % size };
        }
        rest -= count * size;
      }
      return undefined;
    },
  };
}

/**
 * A permutation of 0 to `count` − 1 that moves neighbours far apart, so the members of a company joined
 * in different years. Products stay below 2^53.
 */
function scatter(count: number): (index: number) => number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  // Close to `count` divided by the golden ratio, and coprime to `count`.
  let step = Math.max(1, Math.floor(Math.min(count, 2 ** 26) * 0.618));
  while (divisor(step, count) !== 1) step--;
  return (index) => (index * step) % count;
}

interface Career {
  /** Unix seconds, like all times here. */
  joined: number;
  until: number;
  /** How likely the user is to unlock achievements: 1 is the average. */
  eagerness: number;
  isOwner: boolean;
}

/**
 * Returns unlocks by ascending id. An achievement of 10 points comes at least a day after the
 * previous one, and one of 100 points at least 100 days after it. In data/achievements.json,
 * `rarity` is the percentage of eligible users who get it, `after` the achievement it requires,
 * `years` the anniversary of joining, `on` the day (MM-DD), `hours` the hours between which it is
 * unlocked (UTC), `once` whether its tier is always 1, and `owner` whether it is for owners only.
 */
function drawUnlocks(random: Random, { joined, until, eagerness, isOwner }: Career) {
  const unlocks: { id: number; tier: number; unlocked_at: string }[] = [];
  /** When each achievement was unlocked, by id. Index 0 holds the time of joining. */
  const times: (number | undefined)[] = [joined];
  for (const { id, points, rarity, after, years, on, hours, once, owner } of achievements) {
    const isFirst = id === 1;
    const previous = times[after ?? (isFirst ? 0 : 1)];
    if (previous === undefined || (owner && !isOwner)) continue;

    // Eagerness already counted for the required achievement, so it must not count again here.
    const share = after
      ? rarity / (achievements[after - 1]?.rarity ?? 100)
      : (rarity / 100) * Math.max(eagerness, isFirst ? 1 : 0);
    if (!random.chance(share)) continue;

    const from = previous + (points * points * DAY) / 100;
    const at = years
      ? joined + years * YEAR
      : drawDay(random, from, until, points, on) + drawSecond(random, hours);
    if (at < from || at >= until) continue;

    times[id] = at;
    const tier = once || random.chance(0.7) ? 1 : 2 + random.below(2);
    unlocks.push({ id, tier, unlocked_at: formatTime(at) });
  }
  return unlocks;
}

/** Returns the start of a day. Earlier days are likelier, especially for few points. */
function drawDay(random: Random, from: number, until: number, points: number, on?: string): number {
  const span = (until - from) * Math.min(1, points / 25);
  const at = from + span * random.next() * random.next();
  if (!on) return Math.ceil(at / DAY) * DAY;
  const year = new Date(at * 1000).getUTCFullYear();
  // 29 February needs a leap year.
  const leap = on === "02-29" ? year + ((4 - (year % 4)) % 4) : year;
  return Date.parse(`${leap}-${on}T00:00:00Z`) / 1000;
}

/** Returns a second of the day, around 16:00 if no hours are given. */
function drawSecond(random: Random, hours?: number[]): number {
  if (!hours) return Math.floor(((7 + 9 * (random.next() + random.next())) % 24) * 3600);
  const [first = 0, last = 24] = hours;
  return Math.floor((first + (last - first) * random.next()) * 3600);
}
