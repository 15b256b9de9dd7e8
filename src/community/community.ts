/**
 * Generates a community of any size as dataset lines. The same options give the same bytes on every
 * platform: never use a clock, a locale, or functions whose last bit varies (pow, exp, log).
 */
import achievements from "../../data/achievements.json" with { type: "json" };
import demo from "../../data/demo.json" with { type: "json" };
import data from "../../data/roles.json" with { type: "json" };
import type { DatasetLine } from "../domain/dataset.ts";
import type { PrivateUserLine, PublicUserLine } from "../domain/model.ts";
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
const DAY = 86_400;
const OPENING = Date.parse("2014-02-03T00:00:00Z") / 1000;
const CLOSING = Date.parse("2026-10-31T00:00:00Z") / 1000;

const { owner, lead, staff } = data.companyRoles;

/** `notable` is how many of the company's members are in `demoUsers`, its owner among them. */
const demoCompanies = demo.companies.map((company) => {
  const notable = demo.users.filter((user) => user.company === company.name).length;
  return { tag: "", ...company, notable };
});
/** Users with fixed properties, by id. */
const demoUsers = new Map(
  demo.users.map(({ id, company, role, ...given }) => {
    const index = demo.companies.findIndex(({ name }) => name === company);
    return [id, { ...given, company: role ? { id: index + 1, role } : null }];
  }),
);

export function* seedDataset(options: CommunityOptions): Generator<DatasetLine> {
  for (const { id, name, hierarchy } of data.roles) yield { type: "role", id, name, hierarchy };
  for (const { id, name, description, icon, kind, tier, points } of achievements) {
    yield { type: "achievement", id, name, description, icon, kind, tier, points };
  }
  const companies = createCompanies(options);
  for (let index = 0; index < options.companies; index++) {
    const { name } = companies.nameOf(index);
    yield { type: "company", id: index + 1, name, member_count: companies.sizeOf(index) };
  }
  for (let index = 0; index < options.users; index++) yield drawUser(index, options, companies);
}

/** Generates the demo: a fixed seed, with the companies and notable users in data/demo.json. */
export function demoDataset(): Generator<DatasetLine> {
  return seedDataset({ users: 3000, companies: demoCompanies.length, seed: 42, isDemo: true });
}

/** Stores only how many members each company has so far. The rest is drawn again each time. */
function createCompanies({ users, companies, seed, isDemo }: CommunityOptions) {
  const given = isDemo ? demoCompanies : [];
  const counts = new Uint32Array(companies);

  // With `seed` itself, a company would have the random numbers of the user with its index.
  const nameOf = (index: number): CompanyName =>
    given[index] ?? drawCompanyName(new Random(~seed, index));

  /** The first companies are the largest. */
  const sizeOf = (index: number): number =>
    given[index]?.members ?? Math.ceil(users / (5 * index + companies / 30));

  /** Prefers the first companies. Returns null for half of the users, and if the company is full. */
  function drawMembership(random: Random) {
    const position = random.next();
    const index = Math.floor(companies * position * position);
    const count = counts[index];
    if (count === undefined || random.chance(0.5)) return null;
    const rank = count + (given[index]?.notable ?? 0);
    if (rank >= sizeOf(index)) return null;
    counts[index] = count + 1;
    return { id: index + 1, role: rank === 0 ? owner : random.pick(rank < 4 ? lead : staff) };
  }

  return { nameOf, sizeOf, drawMembership };
}

function drawUser(
  index: number,
  { users, seed, isDemo }: CommunityOptions,
  companies: ReturnType<typeof createCompanies>,
): PublicUserLine | PrivateUserLine {
  // Skips every eleventh id, as if that account had been deleted.
  const id = 1 + index + Math.floor(index / 10);
  const random = new Random(seed, index);
  const known = isDemo ? demoUsers.get(id) : undefined;
  const isPrivate = known ? known.public === false : random.chance(PRIVATE_SHARE);
  if (isPrivate) return { type: "user", id, public: false };

  const joined = OPENING + Math.floor(((CLOSING - OPENING) * (index + random.next())) / users);
  const company = known ? known.company : companies.drawMembership(random);
  const name =
    known?.name ?? drawUserName(random, company ? companies.nameOf(company.id - 1) : undefined);
  const roles = data.roles.filter(({ rarity }) => random.chance(rarity / 100)).map(({ id }) => id);
  const eagerness = known?.eagerness ?? 0.5 + 2 * random.next() * random.next();
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url: null,
    created_at: formatTime(joined),
    company,
    roles: known?.roles ?? roles,
    achievements: drawUnlocks(random, joined, eagerness, company?.role === owner),
  };
}

/**
 * Returns unlocks by ascending id, for a user who joined at `joined` (Unix seconds) and is `eagerness`
 * times as likely as data/achievements.json says to unlock an achievement. There, `rarity` is the
 * percentage of users who get it, of those who have the achievement that it comes `after` (1 if absent;
 * 0 is joining). 10 points take up to 300 days, and 100 points up to ten times as long. `years` is
 * the anniversary of joining, `days` are the only days and `hours` the hours (UTC) in which it is
 * unlocked, and `owner` says whether it is for owners only.
 */
function drawUnlocks(random: Random, joined: number, eagerness: number, isOwner: boolean) {
  const unlocks: { id: number; tier: number; unlocked_at: string }[] = [];
  /** When each achievement was unlocked, by id. Index 0 holds the time of joining. */
  const times: (number | undefined)[] = [joined];
  for (const { id, tier, points, rarity, after = 1, years, days, hours, owner } of achievements) {
    const previous = times[after];
    if (previous === undefined || (owner && !isOwner)) continue;
    if (!random.chance((rarity / 100) * eagerness)) continue;

    const [first = 7, last = 23] = hours ?? [];
    const later = previous + points * 30 * DAY * random.next();
    const day = days ? Date.parse(random.pick(days)) / 1000 : Math.ceil(later / DAY) * DAY;
    const second = Math.floor((first + (last - first) * random.next()) * 3600);
    const at = years ? joined + years * 366 * DAY : day + second;
    if (at < previous || at >= CLOSING) continue;

    times[id] = at;
    unlocks.push({ id, tier: 1 + random.below(tier), unlocked_at: formatTime(at) });
  }
  return unlocks;
}
