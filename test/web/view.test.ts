/** The page's views, loaded from a real API, and their HTML. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageAssets } from "../../src/assets.ts";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { markMatches } from "../../src/web/mark.ts";
import { renderView, titleOf } from "../../src/web/render.ts";
import { type Language, languages } from "../../src/web/texts.ts";
import { loadView, type View } from "../../src/web/view.ts";
import { community, openInProcess, type Target } from "../support.ts";

let api: Target;
beforeAll(async () => {
  api = await openInProcess({ dataset: community, searchLimit: 6 });
});
afterAll(() => api.close());

const load = (path: string, query = "") => loadView({ path, query }, [42, 999], api.fetch);

function problemOf(view: View): string | undefined {
  return view.kind === "problem" ? view.problem : undefined;
}

test("every script is under 8 KB compressed, and the style sheet is under 4 KB", async () => {
  const { scripts, style } = await pageAssets();
  for (const [language, { text }] of Object.entries(scripts)) {
    expect(Bun.gzipSync(text).length).toBeLessThan(8 * 1024);
    // Texts in other languages would waste space.
    const titles = Object.entries(languages).filter(([, { title }]) => text.includes(title));
    expect(titles.map(([name]) => name)).toEqual([language]);
  }
  expect(Bun.gzipSync(style.text).length).toBeLessThan(4 * 1024);
});

test("the start page shows the featured drivers who are public", async () => {
  const view = await load("/");
  expect(view).toMatchObject({ kind: "start", featured: [{ id: 42 }] });
  const html = renderView(view, "en").text;
  expect(html).toContain('href="/drivers/42"');
  expect(html).toMatch(/>\d+ drivers, \d+ companies</);
});

test("a driver has a heading, a company, and every achievement", async () => {
  const view = await load("/drivers/42");
  const html = renderView(view, "en").text;
  expect(html).toMatch(/<h1[^>]*>Łukasz Nowak<\/h1>/);
  expect(html).toContain("Baltic Express, Owner");
  expect(titleOf(view, "en", "Roadbook")).toBe("Łukasz Nowak · Roadbook");
  if (view.kind !== "driver") throw new Error("no driver");
  expect(html.match(/<h3>/g)?.length).toBe(view.achievements.length);
});

test("a private profile is a different problem from an unknown or malformed id", async () => {
  expect(problemOf(await load("/drivers/43"))).toBe("private");
  expect(problemOf(await load("/drivers/999999"))).toBe("unknown");
  expect(problemOf(await load("/drivers/abc"))).toBe("unknown");
});

test("a query of one letter sends no request", async () => {
  const view = await loadView({ path: "/", query: " a " }, [], () => Promise.reject());
  expect(problemOf(view)).toBe("short");
});

test("an unreachable server gives a view, not an exception", async () => {
  const refuse = () => Promise.reject(new TypeError("connection refused"));
  expect(problemOf(await loadView({ path: "/drivers/42", query: "" }, [], refuse))).toBe("offline");
});

test("a search uses two requests and shows the searches left, or how long to wait", async () => {
  expect(await load("/", "nowak")).toMatchObject({ kind: "results", searchesLeft: 2 });
  const results = await load("/", "baltic");
  expect(results).toMatchObject({ searchesLeft: 1, companies: [{ name: "Baltic Express" }] });
  expect(renderView(results, "en").text).toContain("1 company · 1 search left<");
  expect(await load("/", "zzzz")).toMatchObject({ drivers: [], companies: [], searchesLeft: 0 });
  const limited = await load("/", "nowak");
  expect(problemOf(limited)).toBe("limited");
  expect(renderView(limited, "en").text).toContain("Next search in 1:00:00.");
  expect(renderView(limited, "de").text).toContain("Nächste Suche in 1:00:00.");
});

test("a search that hits the limit halfway still shows the drivers", async () => {
  await using other = await createRoadbook({
    dataset: community,
    searchLimit: 3,
    defaultPeer: "a",
  });
  const fetchApi = async (path: string) => other.fetch(new Request(`http://roadbook.test${path}`));
  const search = (query: string) => loadView({ path: "/", query }, [], fetchApi);
  expect(await search("nowak")).toMatchObject({ searchesLeft: 1 });
  const partial = await search("anna");
  expect(partial).toMatchObject({ drivers: [{ id: 45 }], companies: undefined, searchesLeft: 0 });
  expect(renderView(partial, "en").text).toContain("Next search in 1:00:00.");
  expect(problemOf(await search("nowak"))).toBe("limited");
});

test("drivers with the same name and company are shown with their join dates", async () => {
  const created_at = "2021-05-01T10:00:00Z";
  const dataset = [
    { type: "user", id: 1, public: true, name: "Jan", created_at },
    { type: "user", id: 2, public: true, name: "Jan", created_at: "2022-06-02T10:00:00Z" },
    { type: "user", id: 3, public: true, name: "Jana", created_at },
  ] satisfies DatasetLine[];
  await using other = await createRoadbook({ dataset, searchLimit: 0 });
  const fetchApi = async (path: string) => other.fetch(new Request(`http://roadbook.test${path}`));
  const html = renderView(await loadView({ path: "/", query: "jan" }, [], fetchApi), "en").text;
  expect([...html.matchAll(/Member since ([^<]+)/g)].map(([, date]) => date)).toEqual([
    "May 1, 2021",
    "June 2, 2022",
  ]);
});

test("ten results are called the first ten, because there may be more", () => {
  const driver = { id: 1, name: "Jan", avatar_url: "/avatars/1.svg", company: null };
  const company = { id: 1, name: "Jan Trans", member_count: 2 };
  const found = (drivers: number, companies: number) =>
    renderView(
      {
        kind: "results",
        query: "jan",
        drivers: Array(drivers).fill(driver),
        companies: Array(companies).fill(company),
        searchesLeft: undefined,
      },
      "en",
    ).text;
  expect(found(9, 1)).toContain("9 drivers, 1 company<");
  expect(found(10, 10)).toContain("First 10 drivers, first 10 companies<");
});

test.each([
  ["Łukasz Nowak", "lukasz", "[Łukasz] Nowak"],
  ["Łukasz Nowak", "nowak luk", "[Łuk]asz [Nowak]"],
  ["Łukasz Nowak", "kasz no", "Łu[kasz No]wak"],
  ["Müller", "mueller", "[Müller]"],
  ["Müller", "muell", "[Müll]er"],
  ["Müller", "mull", "[Müll]er"],
  ["Straße 5", "strass", "[Straß]e 5"],
  ["Zoe\u0308 & <b>", "zoe", "[Zoe\u0308] &amp; &lt;b&gt;"],
  ["Anna Hanna", "ann", "[Ann]a H[ann]a"],
  ["Иванов", "ива", "[Ива]нов"],
  ["Иванов", "ivanov", "Иванов"],
  ["東京物流", "京物", "東[京物]流"],
  ["Nowak", "n a", "Nowak"],
])("in %s, the query %s marks %s", (name, query, marked) => {
  const { text } = markMatches(name, query);
  expect(text.replaceAll("<mark>", "[").replaceAll("</mark>", "]")).toBe(marked);
});

test("queries and names are never interpreted as markup", () => {
  const view: View = {
    kind: "results",
    query: "<script>alert(1)</script>",
    drivers: [
      {
        id: 1,
        name: "<img onerror=x>",
        avatar_url: 'https://a.example/"onload="x',
        company: "<b>",
      },
    ],
    companies: [{ id: 1, name: "<i>", member_count: 2 }],
    searchesLeft: 3,
  };
  const html = renderView(view, "en").text;
  expect(html).not.toMatch(/<script|<img onerror|"onload=|<b>|<i>/);
});

describe.each(Object.entries(languages))("in the language %s", (language, texts) => {
  const rules = new Intl.PluralRules(language);
  const counts = [...Array(200).keys(), 1_000_000];
  const forms = [...new Set(counts.map((count) => rules.select(count)))].sort();

  /** Lists every text with its path. A count yields its plural forms. */
  function* listTexts(value: object, path = ""): Generator<[string, unknown]> {
    for (const [key, inner] of Object.entries(value)) {
      const name = `${path}/${key}`;
      if (typeof inner === "object") yield* listTexts(inner, name);
      else if (typeof inner === "function" && "forms" in inner) yield [name, inner.forms];
      else yield [name, inner];
    }
  }

  test("no text is missing or blank, and counts have all plural forms", () => {
    const named = [...listTexts(texts)];
    expect(named.map(([name]) => name)).toEqual([...listTexts(languages.en)].map(([name]) => name));
    for (const [name, text] of named) {
      if (typeof text === "string") expect([name, text.trim()]).toEqual([name, text]);
      if (typeof text === "string") expect([name, text]).not.toEqual([name, ""]);
      if (typeof text !== "object" || text === null) continue;
      expect([name, Object.keys(text).sort()]).toEqual([name, forms]);
      for (const form of Object.values(text))
        expect([name, form]).toEqual([name, expect.stringContaining("#")]);
    }
    expect(texts.resultsFor("Żuk")).toContain("Żuk");
    expect(texts.tier(3)).toContain("3");
  });
});

test.each([
  ["pl", "1 kierowca", ["1 firma", "22 firmy", "25 firm", "112 firm"]],
  ["cs", "1 řidič", ["1 firma", "2 firmy", "22 firem", "112 firem"]],
  ["fr", "1 conducteur", ["0 entreprise", "2 entreprises", "1 000 000 d’entreprises"]],
  ["es", "1 conductor", ["1 empresa", "2 empresas", "112 empresas", "1.000.000 de empresas"]],
  ["de", "1 Fahrer", ["1 Firma", "2 Firmen", "112 Firmen", "1.000.000 Firmen"]],
] as [Language, string, string[]][])("counts in %s: %s, %j", (language, driver, companies) => {
  const { driverCount, companyCount } = languages[language];
  expect(driverCount(1)).toBe(driver);
  for (const text of companies) {
    const count = Number(text.replace(/\D/g, ""));
    expect(companyCount(count).replace(/\s/g, " ")).toBe(text);
  }
});
