/**
 * Draws which achievements of data/achievements.json a user has unlocked, and when. `rarity` there is
 * the percentage of those who can have one who do; `after` is the id of another that comes first, `years` an
 * anniversary of joining, `on` a day of the year (MM-DD) and `hours` the hours of a day (UTC). Of what is
 * there `once` the tier stays 1; `owner` is for owners of companies alone.
 */
import data from "../../data/achievements.json" with { type: "json" };
import type { AchievementLine } from "../domain/achievement.ts";
import { formatTime } from "../domain/time.ts";
import type { Random } from "./random.ts";

/** Every other achievement comes after the first, which is for the first delivery. */
const FIRST = 1;
const DAY = 86_400;
const YEAR = 31_557_600;

/** All of one shape, which makes drawing a third faster. */
const chances = data.map(({ id, points, rarity, after = 0, ...one }) => {
  const { years = 0, on = "", hours = [], once = false, owner = false } = one;
  const share = rarity / (data[after - 1]?.rarity ?? 100);
  return { id, points, share, after, years, on, hours, once, owner };
});

export function listAchievements(): AchievementLine[] {
  return data.map(({ id, name, description, icon, kind, tier, points }) => {
    return { type: "achievement", id, name, description, icon, kind, tier, points };
  });
}

interface Career {
  /** In seconds since 1970, like all times here. */
  joined: number;
  /** When the user was last seen. */
  until: number;
  /** 1 for the average user. */
  eagerness: number;
  isOwner: boolean;
}

/** Ordered by id. Points take time: 10 of them a day, 100 a hundred days. */
export function drawUnlocks(random: Random, { joined, until, eagerness, isOwner }: Career) {
  const unlocks: { id: number; tier: number; unlocked_at: string }[] = [];
  /** By id; 0 is before the first. */
  const times = Array<number | undefined>(chances.length + 1).fill(undefined);
  times[0] = joined;
  for (const one of chances) {
    const { id, points, after } = one;
    const previous = times[after || (id === FIRST ? 0 : FIRST)];
    if (previous === undefined || (one.owner && !isOwner)) continue;
    // Who has the one before has been eager already.
    const factor = after ? 1 : id === FIRST ? Math.max(1, eagerness) : eagerness;
    if (!random.chance(one.share * factor)) continue;
    const from = previous + (points * points * DAY) / 100;
    const at = one.years
      ? joined + one.years * YEAR
      : drawDay(random, from, until, points, one.on) + drawSecond(random, one.hours);
    if (at < from || at >= until) continue;
    times[id] = at;
    const tier = one.once || random.chance(0.7) ? 1 : 2 + random.below(2);
    unlocks.push({ id, tier, unlocked_at: formatTime(at) });
  }
  return unlocks;
}

/** The first second of a day; sooner rather than later, and soon when there are few points in it. */
function drawDay(random: Random, from: number, until: number, points: number, on: string): number {
  const span = (until - from) * Math.min(1, points / 25);
  const at = from + span * random.next() * random.next();
  if (!on) return Math.ceil(at / DAY) * DAY;
  const year = new Date(at * 1000).getUTCFullYear();
  // Who was not there on a leap day was there four years later, or never.
  const leap = on === "02-29" ? year + ((4 - (year % 4)) % 4) : year;
  return Date.parse(`${leap}-${on}T00:00:00Z`) / 1000;
}

/** Of the given hours, or around the early evening. */
function drawSecond(random: Random, [first, last]: number[]): number {
  if (first === undefined || last === undefined) {
    return Math.floor(((7 + 9 * (random.next() + random.next())) % 24) * 3600);
  }
  return Math.floor((first + (last - first) * random.next()) * 3600);
}
