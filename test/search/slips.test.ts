/** Tests the names that the page offers if nothing is found: those that a slip of the query misses. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { languages } from "../../src/domain/languages.ts";
import { NameSearch } from "../../src/search/find.ts";
import { countSlips } from "../../src/search/similar.ts";
import { community, user } from "../datasets.ts";
import { openInProcess } from "../support.ts";
import { openNames } from "./similar-names.ts";

const names = [
  "Truckerjoe",
  "Мария Соколова",
  "Ωρίων",
  "Jens",
  "🚚🚛Ra🚚",
  "Ann Lee",
  "Żaneta Kowal",
  "Юлия",
  "Щукин",
  "Щербаков",
  "Яна Чехова",
  "Альберт",
  "김민수",
  "たなかはなこ",
  "Jürgen Größmüller",
  "Dura",
  "Тимурь",
];
const secret = "Sigismund Verborgen";
const people = [
  ...names.map((name, at) => user(500 + at, name)),
  { ...user(600, secret), public: false },
];
const haulier = { type: "company", id: 90, name: "Truckerjob", member_count: 3 };

async function open(options = {}) {
  const dataset = [...community, ...people, haulier];
  return openInProcess({ dataset, page: true, ...options });
}

/** The ids and kinds that a page of results offers. */
async function offeredFor(target: Awaited<ReturnType<typeof open>>, query: string) {
  const headers = { accept: "text/html" };
  const response = await target.fetch(`/?q=${encodeURIComponent(query)}`, { headers });
  const html = await response.text();
  const [, board = ""] = /<h2>Did you mean:<\/h2>(.*?)<\/ul>/s.exec(html) ?? [];
  return Array.from(board.matchAll(/href="\/(\w+\/\d+)/g), ([, path]) => path);
}

const slips: Record<string, string[]> = {
  Truckerjoe: ["truckerjie", "truckejroe", "trckerjoe", "truckerrjoe", "truckrjo", "truckerojee"],
  "Мария Соколова": ["мария соклова", "мраия соколова", "mariya sokolofa"],
  Ωρίων: ["ωριψν", "oriom"],
  Jens: ["jnes", "jems", "xens", "jeens"],
  "🚚🚛Ra🚚": ["🚛🚚ra🚚", "🚚🚛ra🚛"],
  "Żaneta Kowal": ["zaneta kowla", "żanetakowql", "zaneta kowwlq"],
  // The Latin spellings are longer than the names, or shorter.
  Юлия: ["yuliys", "uyliya"],
  // One letter is wrong in Latin (timur', timir), but two are in Cyrillic.
  Тимурь: ["Тимир", "timir"],
  Щукин: ["shchukim", "shhcukin"],
  Щербаков: ["shcherbakav", "shcherrbakof"],
  "Яна Чехова": ["yana chekhiva", "yana chekhoa"],
  Альберт: ["albrt", "albret"],
  김민수: ["gimminsy", "gimninsu"],
  たなかはなこ: ["tanakahanaka", "tanakahaanko"],
  "Jürgen Größmüller": ["juergen groessmuellar", "juergen groesmueler"],
};

test.each(Object.entries(slips))("%s is offered for a slip", async (name, queries) => {
  const target = await open();
  const path = `drivers/${500 + names.indexOf(name)}`;
  const missed: string[] = [];
  for (const query of queries) {
    if (!(await offeredFor(target, query)).includes(path)) missed.push(query);
  }
  expect(missed).toEqual([]);
  await target.close();
});

test("up to three names are offered, the nearest first, also of companies", async () => {
  const target = await open();
  expect(await offeredFor(target, "truckerjox")).toEqual(["drivers/500", "companies/90"]);
  await target.close();
});

test("names are offered if they are among the first 500 companies with the same beginning", () => {
  const offersWith = (others: number) => {
    // The first company has no members, and is the last in the order of results.
    const names = ["Jens", ...Array.from({ length: others }, (_, at) => `Jens Transport ${at}`)];
    const { client, close } = openNames(names, "company");
    const offered = new NameSearch(client, "company").listSimilar("jems");
    close();
    return offered;
  };
  expect([offersWith(499), offersWith(500)]).toEqual([[{ id: 1, slips: 1 }], []]);
});

test("nothing is offered for a private user, if a name is found, for three letters, or by the API", async () => {
  const target = await open();
  // Three letters in Cyrillic are four in Latin, and one slip away from Dura.
  const none = ["sigismund verborgne", "igismund verborgen", "jens", "jxn", "юра", "qqqqqqqq"];
  for (const query of none) {
    expect([query, await offeredFor(target, query)]).toEqual([query, []]);
  }
  const response = await target.fetch("/search/users?q=truckerjox");
  expect(await response.json()).toEqual({ success: true, users: [] });
  await target.close();
});

test("nothing is compared with a query that folds to more than 400 letters", () => {
  const offersFor = (count: number) => {
    const { client, close } = openNames(["ﷺ".repeat(count)], "user");
    const offered = new NameSearch(client, "user").listSimilar(`${"ﷺ".repeat(count)}x`);
    close();
    return offered;
  };
  expect([offersFor(22), offersFor(23)]).toEqual([[{ id: 1, slips: 1 }], []]);
});

test("a page with an offer counts one search, and is in each language", async () => {
  const target = await open({ searchLimit: 6 });
  for (const [language, texts] of Object.entries(languages)) {
    const headers = { accept: "text/html", "accept-language": language };
    const response = await target.fetch("/?q=truckerjox", { headers });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining(`<h2>${texts.didYouMean}</h2>`),
    ]);
  }
  const { status } = await target.fetch("/?q=truckerjox", { headers: { accept: "text/html" } });
  expect(status).toBe(429);
  await target.close();
});

test("slips are counted as by a table of all beginnings", () => {
  const text = fc.array(fc.constantFrom(..."abc"), { maxLength: 7 });
  fc.assert(
    fc.property(text, text, fc.constantFrom(1, 2), (a, b, most) => {
      const expected = countAsTable(a, b);
      expect(countSlips(a, b, most)).toBe(expected <= most ? expected : Infinity);
    }),
  );
});

/** Optimal string alignment: no letter is changed twice. */
function countAsTable(a: string[], b: string[]): number {
  const rows: number[][] = [];
  const at = (x: number, y: number) => rows[x]?.[y] ?? Infinity;
  for (let x = 0; x <= a.length; x++) {
    rows.push([]);
    for (let y = 0; y <= b.length; y++) {
      const isSwap = x > 1 && y > 1 && a[x - 1] === b[y - 2] && a[x - 2] === b[y - 1];
      const counts = [
        x + y === 0 ? 0 : Infinity,
        at(x - 1, y) + 1,
        at(x, y - 1) + 1,
        at(x - 1, y - 1) + (a[x - 1] === b[y - 1] ? 0 : 1),
        isSwap ? at(x - 2, y - 2) + 1 : Infinity,
      ];
      rows[x]?.push(Math.min(...counts));
    }
  }
  return at(a.length, b.length);
}
