/**
 * Draws the demo dataset and writes data/demo.ndjson.zst. The seed is fixed and no clock is read:
 * the same sources give the same bytes.
 */
import { resolve } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { allLocales, Faker, generateMersenne53Randomizer } from "@faker-js/faker";
import { achievements, roles } from "./achievements.ts";
import { type Company, companies, firstCompanies } from "./companies.ts";
import { type LocaleName, latinHandles, locales } from "./names.ts";

interface Driver {
  id: number;
  locale: LocaleName;
  /** Milliseconds since 1970, as are all times here. */
  createdAt: number;
  lastSeen: number;
  /** How eagerly achievements are collected; 0 for who never drove. */
  zeal: number;
  first: string;
  last: string;
  name: string;
  avatarUrl: string;
  company?: { id: number; tag?: string | undefined; role: string };
  roles: number[];
  achievements: { id: number; tier: number; unlocked_at: string }[];
}

const driverCount = 3000;
const privateShare = 0.08;
const dayMs = 86_400_000;
const opening = Date.UTC(2014, 1, 3);
const closing = Date.UTC(2026, 9, 31);

const randomizer = generateMersenne53Randomizer(42);
const dice = new Faker({ locale: allLocales.en, randomizer });
const random = () => randomizer.next();
const chance = (probability: number) => random() < probability;
const localeNames = Object.keys(locales) as LocaleName[];
const fakers = new Map(
  localeNames.map((name) => [name, new Faker({ locale: allLocales[name], randomizer })]),
);
const takenHandles = new Set<string>();

/** The people to look at first; what is said of them here overrides the draw. */
const showcase: Record<number, Partial<Driver>> = {
  1: {
    locale: "nb_NO",
    name: "Ingrid Solberg",
    company: { id: 1, role: "Owner" },
    roles: [1, 5, 8],
    zeal: 3,
    lastSeen: closing,
  },
  2: {
    locale: "nb_NO",
    name: "Nora Solberg",
    company: { id: 1, role: "Manager" },
    roles: [1, 7],
    zeal: 0.7,
    lastSeen: closing,
  },
  42: {
    locale: "pl",
    name: "Łukasz Nowak",
    company: { id: 3, role: "Owner" },
    roles: [1, 2, 4, 5],
    zeal: 9,
    lastSeen: closing,
  },
};

const drivers: Driver[] = [];
const privateIds: number[] = [];
const signUps = drawSignUps();
for (const [id, createdAt] of signUps) {
  if (id === 43 || (!(id in showcase) && chance(privateShare))) privateIds.push(id);
  else drivers.push(drawDriver(id, createdAt));
}
const companyLines = foundCompanies();
for (const driver of drivers) {
  driver.name ||= drawName(driver);
  driver.achievements = drawAchievements(driver);
  if (driver.roles.length === 0) driver.roles = drawRoles(driver);
}

const lines = [
  ...roles.map((role) => ({ type: "role", ...role })),
  ...achievements.map(({ name, description, kind, tier, points }, index) => {
    const icon = `${name.toLowerCase().replace(/[^a-z]+/g, "-")}.svg`;
    return { type: "achievement", id: index + 1, name, description, icon, kind, tier, points };
  }),
  ...companyLines,
  ...[
    ...drivers.map(userLine),
    ...privateIds.map((id) => ({ type: "user", id, public: false })),
  ].sort((a, b) => a.id - b.id),
];
const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
await Bun.write(
  resolve(import.meta.dir, "../../data/demo.ndjson.zst"),
  zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 22 } }),
);

/** Ids ascend with time; the gaps are the accounts that came and went. */
function drawSignUps(): [id: number, createdAt: number][] {
  const times = Array.from({ length: driverCount }, () => {
    const day = Math.floor(((closing - opening) / dayMs) * random() ** 0.65);
    return opening + day * dayMs + drawTimeOfDay();
  }).sort((a, b) => a - b);
  let id = 0;
  return times.map((time, index) => {
    // The first 43 ids have no gaps, so that both 42 and its private neighbour exist.
    id += index < 43 ? 1 : dice.number.int({ min: 1, max: 27 });
    return [id, time];
  });
}

function drawDriver(id: number, createdAt: number): Driver {
  const fixed = showcase[id] ?? {};
  const locale =
    fixed.locale ??
    dice.helpers.weightedArrayElement(
      localeNames.map((value) => ({ value, weight: locales[value].share })),
    );
  const sex = chance(0.22) ? "female" : "male";
  const { men, women, surnames } = locales[locale];
  const listed = sex === "female" ? (surnames?.women ?? surnames?.men) : surnames?.men;
  return {
    id,
    locale,
    createdAt,
    lastSeen: chance(0.45) ? closing : createdAt + (closing - createdAt) * random(),
    zeal: chance(0.04)
      ? 0
      : Math.exp(dice.number.float({ min: -2.3, max: 0.1 })) + 8 * random() ** 16,
    first: drawCommon(sex === "female" ? women : men),
    last: listed ? drawCommon(listed) : (fakers.get(locale) ?? dice).person.lastName(sex),
    name: "",
    avatarUrl: drawAvatar(id),
    roles: [],
    achievements: [],
    ...fixed,
  };
}

/** One of the words, the earlier ones more often. */
function drawCommon(words: string): string {
  const list = words.split(" ");
  return list[Math.floor(list.length * random() ** 1.5)] ?? words;
}

function drawAvatar(id: number): string {
  if (chance(0.2)) {
    const colour = dice.helpers.arrayElement(["amber", "blue", "green", "red", "silver", "teal"]);
    return `https://avatars.example/default/truck-${colour}.svg`;
  }
  return `https://avatars.example/drivers/${id}.svg`;
}

/** Draws the companies' sizes, gives each its people, and returns the lines. */
function foundCompanies() {
  const free = dice.helpers.shuffle(drivers.filter((driver) => !driver.company));
  const take = (locale: LocaleName | undefined) => {
    const index = free.findIndex((driver) => !locale || driver.locale === locale);
    return index < 0 ? undefined : free.splice(index, 1)[0];
  };
  let id = 0;
  return [...firstCompanies, ...dice.helpers.shuffle(companies)].map((company, index) => {
    id += index < firstCompanies.length ? 1 : dice.number.int({ min: 1, max: 9 });
    const size = company.owner ? 1 : (company.members ?? drawSize());
    const people = drivers.filter((driver) => driver.company?.id === id);
    // The dataset is a sample of the platform: the larger a company, the more of it is missing.
    const seats = Math.min(size, Math.round(size ** 0.76 * (0.55 + 0.6 * random())));
    while (people.length < seats) {
      const driver =
        take(company.owner || chance(0.88) ? company.locale : undefined) ?? take(undefined);
      if (!driver) break;
      people.push(driver);
    }
    employ(people, id, company);
    return { type: "company", id, name: company.name, member_count: size };
  });
}

function drawSize(): number {
  return chance(0.2) ? 1 : Math.ceil(Math.exp(0.2 + 3.8 * random() ** 1.3));
}

/** The compatriot who has been there longest owns the place; who has just joined is a trainee. */
function employ(people: Driver[], id: number, { locale, tag, owner }: Company): void {
  const staff = people.filter((driver) => !driver.company).sort((a, b) => a.id - b.id);
  const founder =
    people.find((driver) => driver.company?.role === "Owner") ??
    staff.find((driver) => driver.locale === locale) ??
    staff[0];
  const hierarchical = people.length > 4;
  for (const driver of staff) {
    let role = "Driver";
    if (driver === founder) role = "Owner";
    else if (driver.createdAt > Date.UTC(2026, 3)) role = chance(0.7) ? "Trainee" : "Driver";
    else if (hierarchical && driver.zeal > 0 && chance(0.08)) role = "Manager";
    else if (hierarchical && chance(0.09)) role = "Dispatcher";
    driver.company = { id, tag, role };
    if (owner) driver.name = owner;
  }
}

function drawName(driver: Driver): string {
  const { first, last, locale, company } = driver;
  const { full = "G F", handles = "", ownScript } = locales[locale];
  const tag = company?.tag;
  const style = random();
  const candidates: string[] = [];
  if (tag && chance(0.35)) candidates.push(`[${tag}] ${first}`, `[${tag}] ${first} ${last}`);
  else if (style < 0.1 && full === "G F") return `${first} ${last.slice(0, 1)}.`;
  else if (style < 0.38) {
    // A language's own handles are few, yet should not drown among the Latin ones.
    const list = ownScript || (handles && chance(0.4)) ? handles : latinHandles;
    for (const handle of dice.helpers.shuffle(list.split(" ")).slice(0, 8)) {
      const digits = `${dice.number.int({ min: 66, max: 105 }) % 100}`.padStart(2, "0");
      candidates.push(handle.replace("{}", first).replace("##", digits));
    }
  }
  const handle = candidates.find((candidate) => candidate && !takenHandles.has(candidate));
  if (!handle) return full.replace(/[GF]/g, (part) => (part === "G" ? first : last));
  takenHandles.add(handle);
  return handle;
}

function drawRoles(driver: Driver): number[] {
  const drawn: number[] = [];
  if (driver.achievements.length > 0) drawn.push(1);
  if (chance(0.06)) drawn.push(2);
  // Only the eager who have been here for years are asked to help.
  if (driver.zeal > 0.5 && driver.createdAt < Date.UTC(2024, 0) && driver.lastSeen === closing) {
    const odds = { 3: 0.06, 4: 0.12, 5: 0.05, 6: 0.03, 7: 0.01, 8: 0.012 };
    for (const [id, probability] of Object.entries(odds)) {
      if (chance(probability)) drawn.push(Number(id));
    }
  }
  return drawn;
}

function drawAchievements({ createdAt, lastSeen, zeal, company }: Driver): Driver["achievements"] {
  // The first delivery comes within weeks, and before everything else.
  const start = drawMoment(createdAt, Math.min(lastSeen, createdAt + 21 * dayMs), 4);
  if (zeal === 0 || start === undefined) return [];
  // Ten quiet years bring more than one busy week, though not in proportion.
  const effort = zeal * ((lastSeen - createdAt) / (3 * 365 * dayMs)) ** 0.5;
  const unlocked = new Map<string, number>();
  for (const { name, points, after, years, owner, once, on, hours } of achievements) {
    if (unlocked.size === 0) {
      unlocked.set(name, start);
      continue;
    }
    const previous = after ? unlocked.get(after) : start;
    if (previous === undefined || (owner && company?.role !== "Owner")) continue;
    let probability = 1 - Math.exp((-effort * 6.5) / points ** 1.1);
    if (years || (owner && once)) probability = 0.98;
    else if (after) probability = Math.min(0.98, probability * 4);
    if (!chance(probability)) continue;
    // Nobody drives to the Moon in a week: many points need many days.
    const earliest = previous + (points ** 2 / 100) * dayMs;
    // Milestones are passed early on; what can be repeated is dated by its latest tier.
    const haste = once ? (1 + 60 / points) * (1 + Math.min(effort, 3) / 3) : 1 + 20 / points;
    const at = years
      ? anniversary(createdAt, years)
      : drawMoment(earliest, lastSeen, haste, on, hours);
    if (at !== undefined && at <= lastSeen) unlocked.set(name, at);
  }
  return achievements.flatMap(({ name, once }, index) => {
    const at = unlocked.get(name);
    if (at === undefined) return [];
    return { id: index + 1, tier: once ? 1 : drawTier(effort), unlocked_at: formatTime(at) };
  });
}

function drawTier(effort: number): number {
  const reached = random() * (0.7 + Math.min(effort, 3) / 3);
  if (reached > 1.1) return 3;
  return reached > 0.65 ? 2 : 1;
}

function anniversary(from: number, years: number): number {
  const at = new Date(from);
  return at.setUTCFullYear(at.getUTCFullYear() + years);
}

/**
 * A moment on one of the right days after `from`, the sooner the larger `haste` (1: no matter);
 * undefined if there is no such day.
 */
function drawMoment(
  from: number,
  to: number,
  haste = 1,
  on: (day: Date) => boolean = () => true,
  hours?: [number, number],
): number | undefined {
  const days: number[] = [];
  for (let day = Math.ceil(from / dayMs) * dayMs; day + dayMs <= to; day += dayMs) {
    if (on(new Date(day))) days.push(day);
  }
  const day = days[Math.floor(days.length * random() ** haste)];
  return day === undefined ? undefined : day + drawTimeOfDay(hours);
}

/** Milliseconds into the day, around the early evening unless hours are given. */
function drawTimeOfDay(hours?: [number, number]): number {
  const hour = hours
    ? dice.number.float({ min: hours[0], max: hours[1] - 0.001 })
    : (7 + 9 * (random() + random())) % 24;
  return Math.floor(hour * 3600) * 1000;
}

function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function userLine({ id, name, avatarUrl, createdAt, company, roles, achievements }: Driver) {
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url: avatarUrl,
    created_at: formatTime(createdAt),
    ...(company && { company: { id: company.id, role: company.role } }),
    roles,
    achievements,
  };
}
