/**
 * Invents a community of any size as dataset lines, one at a time: nothing is remembered of a line
 * that is out. The same options give the same bytes on every platform, so there is no clock here, no
 * locale, and no arithmetic whose last bit a platform may choose (pow, exp, log).
 */
import { formatTime, parseTime } from "../domain/time.ts";
import { drawCompany, drawLanguage, drawName } from "./names.ts";
import { createRandom, type Random } from "./random.ts";
import { achievements, companyRoles, roles } from "./words.ts";

export interface SeedOptions {
  users: number;
  companies: number;
  /** Another seed is another community. */
  seed: number;
}

const PRIVATE_SHARE = 0.08;
const MEMBER_SHARE = 0.45;
const OPENING = parseTime("2014-02-03T00:00:00Z") ?? 0;
const CLOSING = parseTime("2026-01-01T00:00:00Z") ?? 0;
/** Draws of companies and users must not meet. */
const COMPANY_DRAWS = 0x51ed270b;

/** The lines of the dataset, without their ends. */
export function* seedDataset({ users, companies, seed }: SeedOptions): Generator<string> {
  for (const [id, name, hierarchy] of roles) {
    yield JSON.stringify({ type: "role", id, name, hierarchy });
  }
  for (const [index, [name, description, kind, tier, points]] of achievements.entries()) {
    const id = index + 1;
    const icon = `${name.toLowerCase().replace(/[^a-z]+/g, "-")}.svg`;
    yield JSON.stringify({ type: "achievement", id, name, description, icon, kind, tier, points });
  }
  const seats = seatsOf(companies, Math.floor(users * MEMBER_SHARE));
  const companyAt = scatter(companies);
  for (let index = 0; index < companies; index++) {
    const { name } = drawCompany(createRandom(seed ^ COMPANY_DRAWS, index));
    const { from, to } = seats.ofCompany(companyAt(index));
    const line = { type: "company", id: index + 1, name, member_count: Math.max(1, to - from) };
    yield JSON.stringify(line);
  }
  const companyIndexes = unscatter(companies);
  const seatOf = scatter(users);
  const gaps = createRandom(seed, -1);
  let id = 0;
  for (let index = 0; index < users; index++) {
    id += gaps.chance(0.9) ? 1 : 2 + gaps.below(4);
    const random = createRandom(seed, index);
    if (random.chance(PRIVATE_SHARE)) {
      yield `{"type":"user","id":${id},"public":false}`;
      continue;
    }
    const seat = seats.find(seatOf(index));
    const companyIndex = seat && companyIndexes(seat.company);
    const company =
      companyIndex === undefined
        ? undefined
        : drawCompany(createRandom(seed ^ COMPANY_DRAWS, companyIndex));
    const language = company && random.chance(0.85) ? company.language : drawLanguage(random);
    const createdAt = signUpTime(index / users, random);
    yield JSON.stringify({
      type: "user",
      id,
      public: true,
      name: drawName(random, language, company?.tag ?? ""),
      avatar_url: random.chance(0.25)
        ? `/avatars/default-${random.below(8)}.svg`
        : `https://avatars.example/drivers/${id}.webp`,
      created_at: formatTime(createdAt),
      company:
        seat && companyIndex !== undefined
          ? { id: companyIndex + 1, role: drawCompanyRole(random, seat.place) }
          : null,
      roles: drawRoles(random),
      achievements: drawAchievements(random, createdAt),
    });
  }
}

interface Seats {
  /** The seats of the `rank`th largest company, `to` excluded. */
  ofCompany(rank: number): { from: number; to: number };
  /** Who has a seat: in which company, by rank, and the how manieth there. */
  find(seat: number): { company: number; place: number } | undefined;
}

/**
 * Companies as communities have them: few large ones and a long tail. They come in groups, each of
 * twice as many companies as the one before, of 5/8 the size; sizes vary by half inside a group.
 */
function seatsOf(companies: number, members: number): Seats {
  const groups: { first: number; count: number; start: number; width: number }[] = [];
  let width = 1;
  let start = 0;
  for (let first = 0; first < companies; width *= 0.625) {
    const count = Math.min(first + 1, companies - first);
    groups.push({ first, count, start, width });
    start += count * width;
    first += count;
  }
  const scale = start > 0 ? members / start : 0;
  for (const group of groups) {
    group.start *= scale;
    group.width *= scale;
  }
  type Group = (typeof groups)[number];
  const edge = ({ first, count, start, width }: Group, index: number) => {
    const shift = index === 0 || index >= count ? 0 : createRandom(first, index).next() / 2;
    return Math.ceil(start + (index + shift) * width);
  };
  return {
    ofCompany(rank) {
      const group = groups.findLast(({ first }) => first <= rank);
      if (!group) return { from: 0, to: 0 };
      const index = rank - group.first;
      return { from: edge(group, index), to: edge(group, index + 1) };
    },
    find(seat) {
      if (seat >= members) return undefined;
      const group = groups.findLast((one) => Math.ceil(one.start) <= seat);
      if (!group) return undefined;
      let index = Math.min(Math.floor((seat - group.start) / group.width), group.count - 1);
      if (edge(group, index) > seat) index--;
      else if (edge(group, index + 1) <= seat) index++;
      return { company: group.first + index, place: seat - edge(group, index) };
    },
  };
}

/** A fixed shuffle of 0 … `count` − 1: neighbours land far apart. Products stay below 2^53. */
function scatter(count: number): (index: number) => number {
  const step = stepOf(count);
  return (index) => (index * step) % count;
}

function unscatter(count: number): (index: number) => number {
  const step = stepOf(count);
  // The inverse of the step by Euclid's algorithm.
  let [a, b, x, y] = [count, step, 0, 1];
  while (b > 1) {
    const quotient = Math.floor(a / b);
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  const inverse = ((y % count) + count) % count;
  return (index) => (index * inverse) % count;
}

/** About the golden section of `count`, without a factor in common. */
function stepOf(count: number): number {
  let step = Math.max(1, Math.floor(Math.min(count, 2 ** 26) * 0.618));
  while (greatestCommonDivisor(step, count) !== 1) step--;
  return step;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** The later, the more sign up; ids ascend with time. */
function signUpTime(share: number, random: Random): number {
  const at = share * (1.6 - 0.6 * share);
  return OPENING + Math.floor((CLOSING - OPENING - 86_400) * at) + random.below(3600);
}

function drawCompanyRole(random: Random, place: number): string {
  if (place === 0) return companyRoles.owner;
  return random.pick(place < 4 ? companyRoles.lead : companyRoles.staff);
}

function drawRoles(random: Random): number[] {
  const drawn = [1];
  if (random.chance(0.06)) drawn.push(2);
  if (random.chance(0.015)) drawn.push(3 + random.below(4));
  if (random.chance(0.0005)) drawn.push(7 + random.below(2));
  return drawn;
}

/** Most have the first few, some have many; the rarer come later in a member's time. */
function drawAchievements(random: Random, createdAt: number) {
  const eagerness = random.next() * random.next();
  const unlocked: { id: number; tier: number; unlocked_at: string }[] = [];
  for (let id = 1; id <= achievements.length; id++) {
    const rarity = (id - 1) / achievements.length;
    if (random.next() > eagerness * 1.3 * (1 - rarity) * (1 - rarity) + (id === 1 ? 0.4 : 0))
      continue;
    const at = rarity * random.next() + (1 - rarity) * random.next() * random.next();
    unlocked.push({
      id,
      tier: random.chance(0.8) ? 1 : 2 + random.below(2),
      unlocked_at: formatTime(createdAt + 3600 + Math.floor((CLOSING - createdAt - 3600) * at)),
    });
  }
  return unlocked;
}
