/**
 * Decides at random which achievements a user has unlocked, and when. In data/achievements.json,
 * `rarity` is the percentage of eligible users who get it, `after` the achievement it requires,
 * `years` the anniversary of joining, `on` the day (MM-DD), `hours` the hours between which it is
 * unlocked (UTC), `once` whether its tier is always 1, and `owner` whether only owners can have it.
 */
import data from "../../data/achievements.json" with { type: "json" };
import type { AchievementLine } from "../domain/model.ts";
import { formatTime } from "../domain/time.ts";
import type { Random } from "./random.ts";

const FIRST_ID = 1;
const DAY = 86_400;
const YEAR = 31_557_600;

export function listAchievements(): AchievementLine[] {
  return data.map(({ id, name, description, icon, kind, tier, points }) => {
    return { type: "achievement", id, name, description, icon, kind, tier, points };
  });
}

interface Career {
  /** Unix seconds, like all times here. */
  joined: number;
  until: number;
  /** How likely the driver is to unlock achievements: 1 is the average. */
  eagerness: number;
  isOwner: boolean;
}

/**
 * Returns unlocks by ascending id. An achievement of 10 points comes at least a day after the
 * previous one, and one of 100 points at least 100 days after it.
 */
export function drawUnlocks(random: Random, { joined, until, eagerness, isOwner }: Career) {
  const unlocks: { id: number; tier: number; unlocked_at: string }[] = [];
  /** When each achievement was unlocked, by id. Index 0 holds the time of joining. */
  const times: (number | undefined)[] = [joined];
  for (const { id, points, rarity, after, years, on, hours, once, owner } of data) {
    const isFirst = id === FIRST_ID;
    const previous = times[after ?? (isFirst ? 0 : FIRST_ID)];
    if (previous === undefined || (owner && !isOwner)) continue;
    let share = rarity / 100;
    // Eagerness already counted for the required achievement, so it must not count again here.
    if (after) share = rarity / (data[after - 1]?.rarity ?? 100);
    else share *= isFirst ? Math.max(1, eagerness) : eagerness;
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
function drawSecond(random: Random, [first, last]: number[] = []): number {
  const hour =
    first === undefined || last === undefined
      ? (7 + 9 * (random.next() + random.next())) % 24
      : first + (last - first) * random.next();
  return Math.floor(hour * 3600);
}
