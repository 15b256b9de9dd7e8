/**
 * Draws which achievements a user has unlocked, and when. data/achievements.json defines them:
 * - `rarity`: the percentage of eligible users who have it
 * - `after`: the id of the achievement that must be unlocked first
 * - `years`: unlocked on this anniversary of joining
 * - `on`: unlocked on this day of the year (MM-DD)
 * - `hours`: unlocked between these hours of the day (UTC)
 * - `once`: always has tier 1
 * - `owner`: only for owners of companies
 */
import data from "../../data/achievements.json" with { type: "json" };
import type { AchievementLine } from "../domain/achievement.ts";
import { formatTime } from "../domain/time.ts";
import type { Random } from "./random.ts";

/** The achievement for the first delivery, which all others require. */
const FIRST = 1;
const DAY = 86_400;
const YEAR = 31_557_600;

/** Missing fields get defaults, because drawing from objects of one shape is a third faster. */
const chances = data.map(({ id, points, rarity, after = 0, ...rest }) => {
  const { years = 0, on = "", hours = [], once = false, owner = false } = rest;
  const share = rarity / (data[after - 1]?.rarity ?? 100);
  return { id, points, share, after, years, on, hours, once, owner };
});

export function listAchievements(): AchievementLine[] {
  return data.map(({ id, name, description, icon, kind, tier, points }) => {
    return { type: "achievement", id, name, description, icon, kind, tier, points };
  });
}

interface Career {
  /** In Unix seconds, like all times here. */
  joined: number;
  /** When the user was last active. */
  until: number;
  /** 1 for the average user. */
  eagerness: number;
  isOwner: boolean;
}

/** Ordered by id. An achievement of 10 points takes at least a day, one of 100 a hundred days. */
export function drawUnlocks(random: Random, { joined, until, eagerness, isOwner }: Career) {
  const unlocks: { id: number; tier: number; unlocked_at: string }[] = [];
  /** When each achievement was unlocked, by id. Index 0 holds the time of joining. */
  const times = Array<number | undefined>(chances.length + 1).fill(undefined);
  times[0] = joined;
  for (const { id, points, share, after, years, on, hours, once, owner } of chances) {
    const previous = times[after || (id === FIRST ? 0 : FIRST)];
    if (previous === undefined || (owner && !isOwner)) continue;
    // The required achievement has already taken eagerness into account.
    const factor = after ? 1 : id === FIRST ? Math.max(1, eagerness) : eagerness;
    if (!random.chance(share * factor)) continue;
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

/** The first second of a day. Early days are likelier, especially if `points` is small. */
function drawDay(random: Random, from: number, until: number, points: number, on: string): number {
  const span = (until - from) * Math.min(1, points / 25);
  const at = from + span * random.next() * random.next();
  if (!on) return Math.ceil(at / DAY) * DAY;
  const year = new Date(at * 1000).getUTCFullYear();
  // The next leap day. The caller skips it if the user was not active then.
  const leap = on === "02-29" ? year + ((4 - (year % 4)) % 4) : year;
  return Date.parse(`${leap}-${on}T00:00:00Z`) / 1000;
}

/** A second of the day between two hours, or by default around 16:00. */
function drawSecond(random: Random, [first, last]: number[]): number {
  if (first === undefined || last === undefined) {
    return Math.floor(((7 + 9 * (random.next() + random.next())) % 24) * 3600);
  }
  return Math.floor((first + (last - first) * random.next()) * 3600);
}
