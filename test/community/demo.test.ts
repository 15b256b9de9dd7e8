/** The demo contains the README's examples and the hand-written drivers and companies. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import demo from "../../data/demo.json" with { type: "json" };
import { demoDataset } from "../../src/community/community.ts";
import type { PublicUserLine } from "../../src/domain/model.ts";
import { openInProcess, type Target } from "../support.ts";

const lines = [...demoDataset()];
const users = lines.filter((line): line is PublicUserLine => line.type === "user" && line.public);
let target: Target;
beforeAll(async () => {
  target = await openInProcess({ dataset: lines });
});
afterAll(() => target.close());

const get = async (path: string) => JSON.parse(await (await target.fetch(path)).text());

test("42 is Łukasz Nowak of Baltic Express with the most achievements; 43 is private", async () => {
  const { user } = await get("/users/public/42");
  expect(user).toMatchObject({ name: "Łukasz Nowak", company: { name: "Baltic Express" } });
  expect(user.avatar_url).toEndWith("/avatars/42.svg");
  const { achievements } = await get("/users/42/achievements");
  const counts = users.map(({ achievements }) => achievements?.length ?? 0);
  expect(achievements.length).toBe(Math.max(...counts));
  expect((await target.fetch("/users/public/43")).status).toBe(403);
});

test.each([
  ["express", "Baltic Express"],
  ["lodz", "Łódź Logistyka"],
])("searching companies for %s finds %s", async (query, name) => {
  const { companies } = await get(`/search/companies?q=${query}`);
  expect(companies).toContainEqual(expect.objectContaining({ name }));
});

test("each notable driver is found by name, with the right company and achievements", async () => {
  const notableDrivers = demo.users.filter((user) => "note" in user);
  expect(notableDrivers.length).toBeGreaterThan(11);
  for (const { id, name = "", company = "", roles = [], note } of notableDrivers) {
    const { user } = await get(`/users/public/${id}`);
    expect(user).toMatchObject({ name, company: { name: company } });
    expect(user.roles.map((role: { id: number }) => role.id).sort()).toEqual(roles);
    expect((await get(`/users/${id}/achievements`)).achievements.length).toBeGreaterThan(9);
    expect(note).toMatch(/^\p{Lu}.+\.$/u);
    const { users: found } = await get(`/search/users?q=${encodeURIComponent(name)}`);
    expect(found.map((user: { id: number }) => user.id)).toContain(id);
  }
});
