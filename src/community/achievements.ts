/**
 * Draws which achievements of data/achievements.json a user has unlocked, and when. `rarity` there is
 * the percentage of those who can have one who do; `after` is the id of another that comes first, `years` an
 * anniversary of joining, `on` a day of the year (MM-DD) and `hours` the hours of a day (UTC).
 */
import achievements from "../../data/achievements.json" with { type: "json" };
import type { AchievementLine } from "../domain/achievement.ts";
import { formatTime } from "../domain/time.ts";
import type { Random } from "./random.ts";

export interface Unlock {
  id: number;
  tier: number;
  unlocked_at: string;
}

interface Achievement extends Omit<AchievementLine, "type"> {
  rarity: number;
  /** There is nothing to repeat: the tier that a user reaches stays 1. */
  once?: boolean;
  after?: number;
  years?: number;
  /** Only the owner of a company has it. */
  owner?: boolean;
  on?: string;
  hours?: number[];
}

const data: readonly Achievement[] = achievements;
/** Every other achievement comes after the first, which is for the first delivery. */
const FIRST = 1;
const DAY = 86_400;
const YEAR = 31_557_600;

/** All of one shape, which makes drawing a third faster. */
const chances = data.map(({ id, rarity, points, after, years, on, hours, once, owner }) => {
  const rarityBefore = data.find((other) => other.id === after)?.rarity ?? 100;
  return {
    id,
    before: id === FIRST ? 0 : (after ?? FIRST),
    isChained: after !== undefined,
    share: rarity / rarityBefore,
    points,
    years: years ?? 0,
    on: on ?? "",
    hours: hours ?? [],
    once: once ?? false,
    owner: owner ?? false,
  };
});
type Chance = (typeof chances)[number];

export function listAchievements(): AchievementLine[] {
  return data.map(({ id, name, description, icon, kind, tier, points }) => {
    return { type: "achievement", id, name, description, icon, kind, tier, points };
  });
}

export interface Career {
  /** In seconds since 1970, like all times here. */
  joined: number;
  /** When the user was last seen. */
  until: number;
  /** 1 for the average user. */
  eagerness: number;
  isOwner: boolean;
}

/** Ordered by id. Points take time: 10 of them a day, 100 a hundred days. */
export function drawUnlocks(random: Random, career: Career): Unlock[] {
  const { joined, eagerness, isOwner } = career;
  const unlocks: Unlock[] = [];
  /** By id; 0 is before the first. */
  const times = Array<number | undefined>(chances.length + 1).fill(undefined);
  times[0] = joined;
  for (const one of chances) {
    const previous = times[one.before];
    if (previous === undefined || (one.owner && !isOwner)) continue;
    const { id, points } = one;
    // Who has the one before has been eager already.
    const factor = one.isChained ? 1 : id === FIRST ? Math.max(1, eagerness) : eagerness;
    if (!random.chance(one.share * factor)) continue;
    const at = drawMoment(random, one, career, previous + (points * points * DAY) / 100);
    if (at === undefined) continue;
    times[id] = at;
    const tier = one.once || random.chance(0.7) ? 1 : 2 + random.below(2);
    unlocks.push({ id, tier, unlocked_at: formatTime(at) });
  }
  return unlocks;
}

/** A time between `from` and the user's last day that suits the achievement, or undefined. */
function drawMoment(random: Random, one: Chance, { joined, until }: Career, from: number) {
  const at = one.years
    ? joined + one.years * YEAR
    : drawDay(random, from, until, one) + drawSecond(random, one.hours);
  return at >= from && at < until ? at : undefined;
}

/** The first second of a day; sooner rather than later, and soon when there are few points in it. */
function drawDay(random: Random, from: number, until: number, { points, on }: Chance): number {
  const span = (until - from) * Math.min(1, points / 25);
  const at = from + span * random.next() * random.next();
  if (on === "") return Math.ceil(at / DAY) * DAY;
  const year = new Date(at * 1000).getUTCFullYear();
  // Who was not there on a leap day was there four years later, or never.
  const leap = on === "02-29" ? year + ((4 - (year % 4)) % 4) : year;
  return Date.parse(`${leap}-${on}T00:00:00Z`) / 1000;
}

/** Of the given hours, or around the early evening. */
function drawSecond(random: Random, hours: number[]): number {
  const [first, last] = hours;
  if (first === undefined || last === undefined) {
    return Math.floor(((7 + 9 * (random.next() + random.next())) % 24) * 3600);
  }
  return Math.floor((first + (last - first) * random.next()) * 3600);
}
