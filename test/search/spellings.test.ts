/** Tests that names can be found from any keyboard, under the spellings in src/search/README.md. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SPELLING_END, spell, spellQuery } from "../../src/search/spellings.ts";
import { makeSnapshot, user } from "../datasets.ts";
import { spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { openInProcess } from "../support.ts";

const names = [
  "Иванов",
  "Пётр Сидоров",
  "Γιώργος Οικονόμου",
  "たなか",
  "김민준",
  "Müller",
  "Åsa",
  "Jørgensen",
  "Straße",
  "Łódź",
  "Шевченко",
  "Игорь",
  "Ivanov",
  "田中",
];

describe("a search", () => {
  let server: Awaited<ReturnType<typeof openInProcess>>;
  beforeAll(async () => {
    const users = names.map((name, at) => user(at + 1, name));
    const companies = names.map((name, at) => ({
      type: "company",
      id: at + 1,
      name,
      member_count: at,
    }));
    server = await openInProcess({
      snapshot: await makeSnapshot([...users, ...companies]),
      searchLimit: 0,
    });
  });
  afterAll(() => server.close());

  const find = async (kind: "users" | "companies", query: string) => {
    const response = await server.fetch(`/search/${kind}?q=${encodeURIComponent(query)}`);
    const body = (await response.json()) as Record<string, { name: string }[]>;
    return body[kind]?.map(({ name }) => name);
  };

  test.each([
    ["ivanov", ["Ivanov", "Иванов"]],
    ["Иванов", ["Ivanov", "Иванов"]],
    ["sidorov", ["Пётр Сидоров"]],
    ["petr sidorov", ["Пётр Сидоров"]],
    ["sidorov пётр", ["Пётр Сидоров"]],
    ["oikonomoy", ["Γιώργος Οικονόμου"]],
    ["tanaka", ["たなか"]],
    ["gimminjun", ["김민준"]],
    ["mueller", ["Müller"]],
    ["muller", ["Müller"]],
    ["aasa", ["Åsa"]],
    ["asa", ["Åsa"]],
    ["joergensen", ["Jørgensen"]],
    ["jorgensen", ["Jørgensen"]],
    ["strasse", ["Straße"]],
    ["lodz", ["Łódź"]],
    ["shevchenko", ["Шевченко"]],
    ["igor", ["Игорь"]],
    ["田中", ["田中"]],
    // Queries have no digraph spelling, and Han characters have no Latin spelling.
    ["muellér", ["Müller"]],
    ["tian zhong", []],
  ])("for %s finds only %j", async (query, expected) => {
    expect((await find("users", query))?.sort()).toEqual([...expected].sort());
    expect((await find("companies", query))?.sort()).toEqual([...expected].sort());
  });

  test("sorts by the tier of the best spelling, then by the name itself", async () => {
    // Both names have a spelling that equals the query, and both names have six code points.
    expect(await find("users", "ivanov")).toEqual(["Иванов", "Ivanov"]);
  });
});

test("a spelling that equals the query comes before spellings that only begin with the query", async () => {
  // At least twelve names earlier in rank order have a spelling that begins with "shchuka" or
  // "igor".
  const shorter = Array.from({ length: 12 }, (_, at) => `Щука${"ъ".repeat(at % 2)}х`);
  const longer = Array.from({ length: 12 }, () => "Igora");
  const people = [...shorter, ...longer, "Shchuka", "Игорь", `${"Щ".repeat(16)}ь`];
  const long = Array.from({ length: 12 }, () => `${"Щ".repeat(16)}`);
  const lines = [...people, ...long].map((name, at) => user(at + 1, name));
  const server = await openInProcess({ snapshot: await makeSnapshot(lines), searchLimit: 0 });
  const first = async (query: string) => {
    const response = await server.fetch(`/search/users?q=${encodeURIComponent(query)}`);
    return ((await response.json()) as { users: { name: string }[] }).users[0]?.name;
  };
  expect(await first("shchuka")).toBe("Shchuka");
  expect(await first("igor")).toBe("Игорь");
  expect(await first("shch".repeat(16))).toBe("Щ".repeat(16));
  await server.close();
});

const text = fc.string({
  unit: fc.constantFrom(..."aBе Жщьёíöø'ÅΩ한があ田́"),
  minLength: 1,
  maxLength: 12,
});

test("the spellings of a name are distinct and start with the name itself", () => {
  fc.assert(
    fc.property(text, (name) => {
      const [itself, ...others] = spellingsAsWritten(name);
      const expected = new Set([itself, ...others.filter((spelling) => spelling !== "")]);
      expect(spell(name).split(SPELLING_END)).toEqual([...expected] as string[]);
    }),
    { numRuns: runs(300) },
  );
});

test("every part of every spelling finds the name", async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom("users", "companies"), async (name, kind) => {
      fc.pre(name.trim() !== "");
      const company = { type: "company", id: 7, name, member_count: 1 };
      const snapshot = await makeSnapshot([user(7, name), company]);
      const server = await openInProcess({ snapshot, searchLimit: 0 });
      for (const spelling of spell(name).split(SPELLING_END)) {
        const points = [...spelling];
        for (let from = 0; from < points.length; from++) {
          for (let to = from + 2; to <= points.length; to++) {
            const query = points.slice(from, to).join("");
            if (query.trim().length < 2 || spellQuery(query)[0] !== query) continue;
            const response = await server.fetch(`/search/${kind}?q=${encodeURIComponent(query)}`);
            const body = (await response.json()) as Record<string, object[]>;
            expect({ name, query, found: body[kind]?.length }).toMatchObject({ found: 1 });
          }
        }
      }
      await server.close();
    }),
    { numRuns: runs(20) },
  );
});
