/** Properties of a generated community, and the hand-written drivers of the demo. */
import { describe, expect, test } from "bun:test";
import achievements from "../../data/achievements.json" with { type: "json" };
import demo from "../../data/demo.json" with { type: "json" };
import { demoDataset, seedDataset } from "../../src/community/community.ts";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import type { CompanyLine, PublicUserLine } from "../../src/domain/model.ts";

const options = { users: 20_000, companies: 800, seed: 5 };
const lines = [...seedDataset(options)];
const isPublicUser = (line: DatasetLine): line is PublicUserLine =>
  line.type === "user" && line.public;
const users = lines.filter(isPublicUser);
const companies = lines.filter((line): line is CompanyLine => line.type === "company");
const shareOf = (matches: (user: PublicUserLine) => boolean) =>
  users.filter(matches).length / users.length;

test("users with higher ids joined later, and ids of deleted users are missing", () => {
  const ids = lines.flatMap((line) => (line.type === "user" ? line.id : []));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(ids.length).toBe(options.users);
  expect(ids.at(-1)).toBeGreaterThan(1.05 * options.users);
  const joined = users.map(({ created_at }) => created_at);
  expect(joined).toEqual(joined.toSorted());
});

test("names use many scripts, and some have numbers or tags", () => {
  const scripts = "Latin Cyrillic Greek Han Hiragana Hangul Thai Arabic Devanagari Georgian";
  for (const script of scripts.split(" ")) {
    const letter = new RegExp(`\\p{Script=${script}}`, "u");
    expect([script, users.some(({ name }) => letter.test(name))]).toEqual([script, true]);
  }
  expect(shareOf(({ name }) => /\d/.test(name))).toBeWithin(0.1, 0.4);
  expect(shareOf(({ name }) => /^\[.+\] /.test(name))).toBeWithin(0.05, 0.25);
  expect(new Set(users.map(({ name }) => name)).size).toBeGreaterThan(users.length / 2);
  for (const { name } of [...users, ...companies]) {
    expect(name).not.toMatch(/[{}]|undefined|^$|^\s|\s$/);
    expect([...name].length).toBeWithin(2, 60);
  }
});

test("some users are private, fewer than half are in a company, and higher roles are rarer", () => {
  const privateShare = 1 - users.length / options.users;
  expect(privateShare).toBeWithin(0.06, 0.1);
  expect(shareOf(({ company }) => company !== null)).toBeWithin(0.35, 0.5);
  const has = (role: number) => shareOf(({ roles }) => roles?.includes(role) ?? false);
  expect(has(1)).toBe(1);
  expect(has(2)).toBeWithin(0.04, 0.08);
  expect(has(8)).toBeLessThan(0.002);
});

test.each([
  ["a generated community", lines],
  ["the demo", [...demoDataset()]],
])(
  "in %s, companies count all of their members, and have one owner and at most three leads",
  (_, all) => {
    const memberships = all.flatMap((line) => ("company" in line ? (line.company ?? []) : []));
    const byCompany = Map.groupBy(memberships, ({ id }) => id);
    const counts: number[] = [];
    for (const line of all) {
      if (line.type !== "company") continue;
      counts.push(line.member_count);
      const members = byCompany.get(line.id) ?? [];
      const leads = members.filter(({ role }) => /Manager|Dispatcher|HR/.test(role));
      expect(members.length).toBeWithin(1, line.member_count + 1);
      expect(members.filter(({ role }) => role === "Owner")).toHaveLength(1);
      expect(leads.length).toBeLessThan(4);
    }
    counts.sort((a, b) => b - a);
    expect(counts[0]).toBeGreaterThan(20 * (counts[counts.length >> 1] ?? 0));
  },
);

test("the demo has each notable driver, and 42 has the most achievements", () => {
  const shown = [...demoDataset()];
  expect(shown).toContainEqual({ type: "user", id: 43, public: false });
  const drivers = shown.filter(isPublicUser);
  const countOf = (user?: PublicUserLine) => user?.achievements?.length ?? 0;
  const notable = demo.users.filter((user) => "note" in user);
  expect(notable.length).toBeGreaterThan(11);
  for (const { id, name = "", company = "", roles = [], note } of notable) {
    const driver = drivers.find((user) => user.id === id);
    expect(driver).toMatchObject({ name, roles });
    const employer = { type: "company", id: driver?.company?.id, name: company };
    expect(shown).toContainEqual(expect.objectContaining(employer));
    expect(countOf(driver)).toBeGreaterThan(9);
    expect(note).toMatch(/^\p{Lu}.+\.$/u);
    if (id === 42) expect(countOf(driver)).toBe(Math.max(...drivers.map(countOf)));
  }
});

describe("achievements", () => {
  const unlocks = users.flatMap((user) =>
    (user.achievements ?? []).map((unlock) => ({ user, ...unlock })),
  );

  test("are unlocked after those that they require, on their days, in their hours and tiers", () => {
    for (const { user, id, tier, unlocked_at } of unlocks) {
      const { after = 1, owner, years, days, hours, tier: tiers = 0 } = achievements[id - 1] ?? {};
      const [first = 0, last = 24] = hours ?? [];
      expect(unlocked_at >= user.created_at && unlocked_at < "2026-11").toBeTrue();
      const before = user.achievements?.find((other) => other.id === after);
      expect(id === 1 || (before && before.unlocked_at <= unlocked_at)).toBeTrue();
      if (owner) expect(user.company?.role).toBe("Owner");
      if (days) expect(days).toContain(unlocked_at.slice(0, 10));
      if (years) {
        const year = Number(user.created_at.slice(0, 4)) + years;
        expect(unlocked_at >= `${year}${user.created_at.slice(4)}`).toBeTrue();
      } else {
        expect(Number(unlocked_at.slice(11, 13))).toBeWithin(first, last);
      }
      expect(tier).toBeWithin(1, tiers + 1);
    }
  });

  test("are all unlocked by somebody, and common ones by more users", () => {
    const count = (wanted: number) => unlocks.filter(({ id }) => id === wanted).length;
    const missing = achievements.filter(({ id, rarity }) => rarity >= 0.3 && count(id) === 0);
    expect(missing).toEqual([]);
    expect(count(1)).toBeGreaterThan(count(2));
    expect(count(2)).toBeGreaterThan(count(4));
  });

  test.each(achievements)("the definition of $name is complete", (achievement) => {
    expect(achievements[achievement.id - 1]).toBe(achievement);
    expect(achievement.icon).toMatch(/^[a-z]+(-[a-z]+)*\.svg$/);
    expect(achievement.after ?? 1).toBeLessThan(Math.max(achievement.id, 2));
    expect(achievement.rarity).toBeGreaterThan(0);
  });
});
