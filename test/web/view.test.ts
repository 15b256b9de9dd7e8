/** The pages' content, and the community's own links and pictures. */
import { describe, expect, test } from "bun:test";
import { spellQuery } from "../../src/search/fold.ts";
import { pageAssets } from "../../src/web/assets.ts";
import type { Brand } from "../../src/web/brand.ts";
import { renderDocument } from "../../src/web/document.ts";
import { drawBadge } from "../../src/web/drawings.ts";
import { markMatches } from "../../src/web/mark.ts";
import { type Language, languages, translationIn } from "../../src/web/texts.ts";
import type { DriverView, ResultsView, View } from "../../src/web/view.ts";
import { user } from "../datasets.ts";
import { community, openInProcess } from "../support.ts";

/** The HTML of a page. */
async function load(path: string, options: object = {}, headers = { accept: "text/html" }) {
  const target = await openInProcess({ dataset: community, page: true, ...options });
  const html = await (await target.fetch(path, { headers })).text();
  await target.close();
  return html;
}

function render(view: View, brand: Partial<Brand> = {}): string {
  return renderDocument({
    view,
    language: "en",
    brand: { title: "Roadbook", kioskIdle: 1000, ...brand },
    baseUrl: "https://rb.example/rb",
    basePath: "/rb",
    scriptPath: "/assets/page.js",
    stylePath: "/assets/page.css",
    logoPath: undefined,
    builtAt: "2026-01-02T03:04:05Z",
  });
}

const results: ResultsView = {
  kind: "results",
  query: "trans",
  queries: ["trans"],
  drivers: [{ id: 1, name: "Jan", avatar_url: "https://a.example/1.png", company: "Trans" }],
  companies: [{ id: 7, name: "Jan Trans", member_count: 2 }],
  searchesLeft: undefined,
};

const night = { id: 7, name: "Owl", description: "", icon: "owl.svg", type: "night" };
const driver: DriverView = {
  kind: "driver",
  user: {
    id: 42,
    name: "Jan",
    avatar_url: "https://rb.example/rb/avatars/42.svg",
    company: null,
    roles: [],
    created_at: "2021-05-01T10:00:00Z",
  },
  achievements: Array.from({ length: 30 }, (_, at) => ({
    achievement: {
      ...night,
      name: `Owl ${at}`,
      type: at % 2 ? "day" : "night",
      tier: 3,
      points: 2,
    },
    tier: 2,
    unlocked_at: "2024-03-09T17:05:00Z",
  })),
  showsAll: false,
};

test("the script is under 3 KB compressed, and the style sheet is under 4 KB", async () => {
  const { script, style } = await pageAssets();
  expect(Bun.gzipSync(script.text).length).toBeLessThan(3 * 1024);
  expect(script.text).not.toMatch(/\bfetch\b|XMLHttpRequest|innerHTML/);
  expect(Bun.gzipSync(style.text).length).toBeLessThan(4 * 1024);
});

test("the start page has the public featured drivers, and says whose drivers they are", async () => {
  const html = await load("/", { featured: [42, 43, 999] });
  // The only files that the page loads from here.
  const loaded = html.matchAll(
    /<(?:link rel="(?:icon|stylesheet)" href|script src)="(\S+?)(?:-\w+)?\.\w+"/g,
  );
  const files = ["/favicon", "/assets/page", "/assets/page"];
  expect([...loaded].map(([, file]) => file)).toEqual(files);
  expect([...html.matchAll(/href="\/drivers\/(\d+)"/g)].map(([, id]) => id)).toEqual(["42"]);
  expect(html).toMatch(/<h1>Who is on the road<\/h1>\s*<p class="counts">3 drivers, 5 companies</);
  expect(await load("/", { title: "Baltic Convoys" })).toContain(
    "<h1>Drivers of Baltic Convoys</h1>",
  );
});

test("a driver has a heading, a company, and drawings in the page itself", async () => {
  const html = await load("/drivers/42");
  expect(html).toContain("<h1>Łukasz Nowak</h1>");
  expect(html).toContain("<bdi>Baltic Express</bdi>, <bdi>Owner</bdi>");
  expect(html).toContain("<title>Łukasz Nowak · Roadbook</title>");
  expect(html).toContain('</svg><img src="https://cdn.example/a/42.png" alt=""');
});

test("a driver's page shows the newest 24 achievements by kind, and links to all", () => {
  const html = render(driver);
  expect(html.match(/<h4>/g)).toHaveLength(24);
  expect([...html.matchAll(/<h3>(\w+)/g)].map(([, kind]) => kind)).toEqual(["night", "day"]);
  expect(html).toContain('href="/rb/drivers/42?achievements=all">Show all 30 achievements<');
  expect(html).toContain("<dd>60</dd>");
  const all = render({ ...driver, showsAll: true });
  expect([all.match(/<h4>/g)?.length, all.includes("?achievements=all")]).toEqual([30, false]);
});

test("a badge and its text show the tier that the driver has reached", () => {
  const withTiers = (tier: number, defined: number) => {
    const achievement = { ...night, tier: defined, points: 1 };
    const entry = { achievement, tier, unlocked_at: "2024-03-09T17:05:00Z" };
    return render({ ...driver, achievements: [entry] });
  };
  expect(withTiers(2, 3)).toContain("Tier 2 of 3 ·");
  expect(withTiers(2, 3)).toContain(drawBadge({ ...night, tier: 2 }));
  // Some datasets define an achievement's first tier and let drivers reach higher ones.
  expect(withTiers(2, 1)).toContain("Tier 2 ·");
});

describe("a community's own", () => {
  const own = {
    dataset: [
      { ...night, type: "achievement", kind: "night", tier: 1, points: 1 },
      { type: "company", id: 7, name: "Jan Trans", member_count: 2 },
      user(42, "Jan", {
        achievements: [{ id: night.id, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" }],
      }),
    ],
    links: ["Imprint & more=https://x.example/i", "Rules=/rules"],
    driverLink: "https://hub.example/users/{id}",
    companyLink: "/vtc/{id}?from=rb",
    icons: "https://hub.example/badges",
    publicUrl: "https://rb.example/rb",
  };

  test("links and pictures are on the pages that they belong to", async () => {
    const page = await load("/drivers/42", own);
    expect(page).toContain('href="https://hub.example/users/42">Full profile<');
    expect(page).toContain('</svg><img src="https://hub.example/badges/owl.svg" alt=""');
    const found = await load("/?q=jan", own);
    expect(found).toContain('href="https://rb.example/vtc/7?from=rb"');
    expect(found).toContain('<a href="https://x.example/i">Imprint &amp; more</a>');
    expect(found).toContain('<a href="https://rb.example/rules">Rules</a>');
    expect(await load("/drivers/42", { ...own, icons: undefined })).not.toContain("owl.svg");
  });

  test("links are not on a kiosk, where a company searches for its name instead", async () => {
    const kiosk = { ...own, kiosk: true };
    const found = await load("/?q=jan", kiosk);
    for (const page of [found, await load("/drivers/42", kiosk)]) {
      expect(page).not.toMatch(/<a [^>]*href="(?!\/|#)|imprint|vtc|rules|"\/(rb\/)?docs/i);
    }
    expect(found).toContain('href="/rb/?q=Jan+Trans"');
    // The name itself would only lead to the same page.
    expect(await load("/?q=JAN%20TRANS", kiosk)).not.toContain('href="/rb/?q=Jan+Trans"');
  });
});

test("drivers with the same name and company are shown with their join dates", async () => {
  const dataset = [
    user(1, "Jan"),
    user(2, "Jan", { created_at: "2022-06-02T10:00:00Z" }),
    user(3, "Jana"),
  ];
  const html = await load("/?q=jan", { dataset });
  expect([...html.matchAll(/Member since ([^<]+)/g)].map(([, date]) => date)).toEqual([
    "May 1, 2021",
    "June 2, 2022",
  ]);
});

test("ten results are called the first ten, and empty lists have no heading", () => {
  const found = (drivers: number, companies: number) =>
    render({
      ...results,
      drivers: Array(drivers).fill(results.drivers[0]),
      companies: Array(companies).fill(results.companies[0]),
    });
  expect(found(9, 1)).toContain(">9 drivers, 1 company<");
  expect(found(10, 10)).toContain(">First 10 drivers, first 10 companies<");
  expect(found(1, 0).match(/<h2>/g)).toHaveLength(1);
  expect(found(0, 0)).toContain("<h2>Nobody by that name</h2>");
});

test("a search on the page counts once, and says how many are left only if few are", async () => {
  const target = await openInProcess({ dataset: community, page: true, searchLimit: 7 });
  const search = async (query: string) => {
    const response = await target.fetch(`/?q=${query}`);
    return { response, html: await response.text() };
  };
  const first = await search("nowak");
  expect(first.html).not.toContain("left");
  expect(first.response.headers.get("cache-control")).toBe("private, max-age=60");
  expect(first.response.headers.get("x-ratelimit-remaining")).toBe("6");
  expect((await search("baltic")).html).toContain(
    '1 company<span class="left"> · 5 searches left<',
  );
  // Neither the start page nor a query that is too short counts.
  await target.fetch("/");
  expect((await search("a")).html).toContain("One letter is not enough");
  for (let left = 4; left >= 0; left--) {
    const { headers } = (await search("zzzz")).response;
    expect(headers.get("x-ratelimit-remaining")).toBe(String(left));
  }
  const { response, html } = await search("nowak");
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3600"]);
  expect(html).toContain("Next search in 1:00:00.");
  await target.close();
});

test.each([
  ["/nope", "text/html", "text/html; charset=utf-8"],
  ["/api/nope", "text/html", "application/json; charset=utf-8"],
  ["/nope", "*/*", "application/json; charset=utf-8"],
])("the unknown path %s is a 404 for a client that accepts %s: %s", async (path, accept, type) => {
  const target = await openInProcess({ dataset: community, page: true });
  const { status, headers } = await target.fetch(path, { headers: { accept } });
  expect([status, headers.get("content-type")]).toEqual([404, type]);
  await target.close();
});

test.each([
  ["Łukasz Nowak", "nowak luk", "[Łuk]asz [Nowak]"],
  ["Łukasz Nowak", "kasz no", "Łu[kasz No]wak"],
  ["Müller", "muell", "[Müll]er"],
  ["Müller", "eller", "Müller (mueller)"],
  ["Zoe\u0308 & <b>", "zoe", "[Zoe\u0308] &amp; &lt;b&gt;"],
  ["Anna Hanna", "ann", "[Ann]a H[ann]a"],
  ["Ivanov", "иванов", "[Ivanov]"],
  ["Щукин", "shchuk", "[Щук]ин"],
  ["東京物流", "京物", "東[京物]流"],
  ["Nowak", "n a", "Nowak"],
  ["an".repeat(501), "an", "an".repeat(501)],
  ["Na\u0301\u0345\u0316n", "an", "N[a\u0301\u0345\u0316n]"],
])("in %s, the query %s marks %s", (name, query, marked) => {
  const { name: html, spelling } = markMatches(name, spellQuery(query));
  const shown = html.text.replaceAll("<mark>", "[").replaceAll("</mark>", "]");
  expect(shown + (spelling ? ` (${spelling})` : "")).toBe(marked);
});

test("a page for 400 code points has results, and one for 401 says that there are none", async () => {
  const words = "an+".repeat(132);
  expect(await load(`/?q=${words}nowa`)).toContain("<mark>An</mark>na <mark>Nowa</mark>k");
  const html = await load(`/?q=${words}nowak${"%3C".repeat(4000)}`);
  expect(html).toContain("<h2>Nobody by that name</h2>");
  expect(html.length).toBeLessThan(12_000);
});

test("queries and names are never interpreted as markup", () => {
  const html = render({
    ...results,
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
  });
  expect(html).not.toMatch(/<script>|<img onerror|"onload=|<b>&|<i>/);
});

describe.each(Object.entries(languages))("in the language %s", (language, texts) => {
  const rules = new Intl.PluralRules(language);
  const counts = [...Array(200).keys(), 1_000_000];
  const forms = [...new Set(counts.map((count) => rules.select(count)))].sort();

  /** Every text with its path and placeholders. The plural forms of a count are one text. */
  const describeTexts = (value: object, path = ""): [string, string[]][] =>
    Object.entries(value).flatMap(([key, text]: [string, string | object]) => {
      if (typeof text !== "string" && !("one" in text))
        return describeTexts(text, `${path}/${key}`);
      const variants = typeof text === "string" ? [text] : Object.values(text).map(String);
      const placeholders = variants.map((each) => (each.match(/\{.*?\}/g) ?? []).sort().join());
      return [[`${path}/${key}`, [...new Set(placeholders)]]];
    });

  test("the texts have the same keys and placeholders as in English, and all plural forms", () => {
    expect(describeTexts(texts)).toEqual(describeTexts(languages.en));
    for (const [key, text] of Object.entries(texts)) {
      const isCount = typeof text === "object" && "one" in text;
      if (isCount) expect([key, Object.keys(text).sort()]).toEqual([key, forms]);
      const all = typeof text === "string" ? [text] : Object.values(text as object).map(String);
      for (const each of all)
        expect([key, each]).toEqual([key, expect.stringMatching(/^\S.*\S$/s)]);
    }
  });

  test("the page is in the language that the reader's browser asks for", async () => {
    const headers = { "accept-language": `${language}-AT,x;q=0.5`, accept: "text/html" };
    expect(await load("/", {}, headers)).toContain(`<h1>${texts.title}</h1>`);
    expect(await load("/", { language: "pl" }, headers)).toContain("<h1>Kto jest w trasie</h1>");
  });
});

test.each([
  ["/drivers/43", 403, "This driver keeps to themselves"],
  ["/drivers/999999", 404, "No such driver"],
  ["/?q=a", 200, "One letter is not enough"],
  ["/?q=zzzzqq", 200, "Results for “zzzzqq”"],
])("%s is a %d with a heading and a link to other drivers", async (path, status, heading) => {
  const target = await openInProcess({ dataset: community, page: true });
  const response = await target.fetch(path, { headers: { accept: "text/html" } });
  const html = await response.text();
  await target.close();
  expect(response.status).toBe(status);
  expect(html).toContain(`<h1>${heading}</h1>`);
  expect(html).toContain('<a href="/">See other drivers</a>');
});

test.each([
  ["pl", "1 kierowca", ["1 firma", "22 firmy", "25 firm", "112 firm"]],
  ["cs", "1 řidič", ["1 firma", "2 firmy", "22 firem", "112 firem"]],
  ["fr", "1 conducteur", ["0 entreprise", "2 entreprises", "1 000 000 d’entreprises"]],
] as [Language, string, string[]][])("counts in %s: %s, %j", (language, driver, companies) => {
  const { texts, formatCount } = translationIn(language);
  expect(formatCount(1, texts.driverCount)).toBe(driver);
  for (const text of companies) {
    const count = Number(text.replace(/\D/g, ""));
    expect(formatCount(count, texts.companyCount).replace(/\s/g, " ")).toBe(text);
  }
});
