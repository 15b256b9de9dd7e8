/** The pages' content, and the community's own links and pictures. */
import { describe, expect, test } from "bun:test";
import { languages } from "../../src/domain/languages.ts";
import { pageAssets } from "../../src/web/assets.ts";
import type { Brand } from "../../src/web/brand.ts";
import { renderDocument } from "../../src/web/document.ts";
import { drawBadge } from "../../src/web/drawings.ts";
import { fetchPage } from "../../src/web/kiosk.ts";
import type { DriverView, ResultsView, View } from "../../src/web/page.ts";
import { user } from "../datasets.ts";
import { fixture, openInProcess } from "../support.ts";

/** The HTML of a page. */
async function load(
  path: string,
  options: object = {},
  headers: Record<string, string> = { accept: "text/html" },
) {
  const target = await openInProcess({ dataset: fixture, page: true, ...options });
  const html = await (await target.fetch(path, { headers })).text();
  await target.close();
  return html;
}

const plain: Brand = {
  title: "Roadbook",
  featured: undefined,
  language: undefined,
  kiosk: false,
  kioskIdle: 1000,
  allowIndexing: false,
  links: undefined,
  driverLink: undefined,
  companyLink: undefined,
  icons: undefined,
};

function render(view: View, brand: Partial<Brand> = {}): string {
  return renderDocument({
    view,
    language: "en",
    locale: "en",
    brand: { ...plain, ...brand },
    baseUrl: "https://rb.example/rb",
    basePath: "/rb",
    scriptPath: "/assets/page.js",
    stylePath: "/assets/page.css",
    logoPath: undefined,
    rescue: "",
    lastQuery: "",
    meta: {
      counts: { roles: 0, achievements: 1, companies: 1, users: 1, public_users: 1 },
    },
  });
}

const results: ResultsView = {
  kind: "results",
  query: "trans",
  drivers: [
    {
      id: 1,
      name: "Jan",
      avatar_url: "https://a.example/1.png",
      company: "Trans",
      created_at: "2021-05-01T10:00:00Z",
    },
  ],
  companies: [{ id: 7, name: "Jan Trans", member_count: 2 }],
};

const owl = {
  type: "achievement",
  description: "",
  icon: "owl.svg",
  kind: "night",
  tier: 1,
  points: 2,
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
  achievements: Array.from({ length: 41 }, (_, at) => ({
    achievement: { ...night, name: `Owl ${at}`, type: "night_drive", tier: 3, points: 2 },
    tier: 2,
    unlocked_at: "2024-03-09T17:05:00Z",
  })),
  allAfter: undefined,
};

test("all achievements stand in pages of 100, newest first", async () => {
  const ids = Array.from({ length: 250 }, (_, at) => at + 1);
  const dataset = [
    ...ids.map((id) => ({ ...owl, id, name: `Owl ${id}` })),
    user(42, "Jan", {
      achievements: ids.map((id) => {
        return { id, tier: 1, unlocked_at: new Date(id * 1e11).toISOString() };
      }),
    }),
  ];
  const target = await openInProcess({ dataset, page: true });
  const found: number[][] = [];
  let path: string | undefined = "/drivers/42?achievements=all";
  while (path !== undefined) {
    const html = await (await target.fetch(path, { headers: { accept: "text/html" } })).text();
    found.push([...html.matchAll(/<h3>Owl (\d+)</g)].map(([, id]) => Number(id)));
    path = /href="([^"]+)">Show more</.exec(html)?.[1]?.replaceAll("&amp;", "&");
  }
  expect(found.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(found.flat()).toEqual(ids.toReversed());
  await target.close();
});

test.each([0, 41])("with %d achievements, the roles are a row of their own", async (count) => {
  const roles = [{ id: 1, name: "Driver", hierarchy: 10 }];
  const achievements = driver.achievements.slice(0, count);
  const html = render({ ...driver, user: { ...driver.user, roles }, achievements });
  expect(html).toContain('<div class="roles"><dt>Roles</dt><dd>Driver</dd></div></dl>');
  const { style } = await pageAssets();
  expect(style).toContain(".facts>.roles{flex-basis:100%}");
  expect(render(driver)).not.toContain("<dt>Roles");
});

test("the script has 5 KB (2.5 KB compressed), and the style sheet 11 KB (4 KB compressed)", async () => {
  const { script, style } = await pageAssets();
  expect(script.length).toBeLessThanOrEqual(5 * 1024);
  expect(style.length).toBeLessThanOrEqual(11 * 1024);
  expect(Bun.gzipSync(script).length).toBeLessThan(2.5 * 1024);
  expect(script).not.toMatch(/XMLHttpRequest|innerHTML/);
  expect(Bun.gzipSync(style).length).toBeLessThan(4 * 1024);
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
  expect(await load("/", { title: "Nord" })).toContain("<h1>Drivers of Nord</h1>");
});

test.each([false, true])("--featured all shows everybody, in pages (kiosk: %p)", async (kiosk) => {
  const dataset = [
    { type: "user", id: 3, public: false },
    ...Array.from({ length: 30 }, (_, at) => user(2 * at + 2, `Driver ${at}`)),
  ];
  const options = { dataset, kiosk, featured: ["all"] };
  const idsOn = (html: string) =>
    [...html.matchAll(/"\/drivers\/(\d+)/g)].map(([, id]) => Number(id));

  const first = await load("/", options);
  const second = await load("/?after=48", options);
  expect(first).toContain('<a href="/?after=48">Show more</a>');
  expect(second).not.toContain("Show more");
  expect(idsOn(first + second)).toEqual(Array.from({ length: 30 }, (_, at) => 2 * at + 2));
  if (kiosk) expect(second).toContain('<a href="/" aria-label="Back to the start">');
  else expect(second).toContain('<link rel="canonical" href="http://roadbook.test/?after=48">');
});

test("without --featured all, the start page has one address", async () => {
  for (const featured of [undefined, [42]]) {
    const page = await load("/?after=41", { featured });
    expect(page).toContain('<link rel="canonical" href="http://roadbook.test/">');
    expect(page).toContain('href="/drivers/42"');
  }
});

test("drivers are notable if they have achievements, or if the operator has chosen them", async () => {
  const dataset = [user(1, "Anna"), user(2, "Bo")];
  expect(await load("/")).toContain("<h2>Notable drivers</h2>");
  expect(await load("/", { dataset })).toContain("<h2>Drivers</h2>");
  expect(await load("/", { dataset, featured: [2] })).toContain("<h2>Notable drivers</h2>");
});

test("a driver has a heading, a company, and drawings in the page itself", async () => {
  const html = await load("/drivers/42");
  expect(html).toContain("<h1>Łukasz Nowak</h1>");
  expect(html).toContain('<a href="/companies/3"><bdi>Baltic Express</bdi></a>, <bdi>Owner</bdi>');
  expect(html).toContain("<title>Łukasz Nowak · Roadbook</title>");
  expect(html).toContain('</svg><img src="https://cdn.example/a/42.png" alt=""');
});

test("a driver's page shows up to 40 achievements, or else the newest 24 and a link to all", () => {
  const html = render(driver);
  expect(html.match(/<h3>/g)).toHaveLength(24);
  expect(html).toContain("<h3>Owl 0</h3>");
  expect(html).toContain("<span><i></i>Tier 2 of 3</span> <span><i>· </i>2 points</span>");
  // The kind is in the language of the data, so it is behind the page's own words.
  const kind = '</time></span> <span><i>· </i><span lang="">night_drive</span></span> </p>';
  expect(html.split(kind)).toHaveLength(25);
  expect(html).toContain('href="/rb/drivers/42?achievements=all">Show all 41 achievements<');
  expect(html).toContain("<dd>82</dd>");
  const all = render({ ...driver, allAfter: 0 });
  expect([all.match(/<h3>/g)?.length, all.includes("?achievements=all")]).toEqual([41, false]);
  const few = { ...driver, achievements: driver.achievements.slice(1) };
  expect(render(few).match(/<h3>/g)).toHaveLength(40);
  // A long name is small.
  for (const name of ["Jan ".repeat(20), "Donaudampfschifffahrtsgesellschaft"])
    expect(render({ ...few, user: { ...driver.user, name } })).toContain('<h1 class="long">');
});

test("a long name reaches each place of a page unchanged", () => {
  const name = "Donaudampfschifffahrtsgesellschaft";
  const company = { id: 7, name, role: "Owner" };
  const unlocked_at = "2024-03-09T17:05:00Z";
  const achievement = { ...night, name, type: "night_drive", tier: 1, points: 2 };
  const achievements = [{ achievement, tier: 1, unlocked_at }];
  const html = render({ ...driver, user: { ...driver.user, name, company }, achievements });
  // The head's descriptions name the company, its titles the driver.
  const [head = "", main = ""] = html.split("<main");
  expect(head.split(name)).toHaveLength(5);
  for (const part of [`<h1 class="long">${name}</h1>`, `<bdi>${name}</bdi>`, `<h3>${name}</h3>`]) {
    expect(main).toContain(part);
  }

  const match = { id: 1, name, avatar_url: `https://a.example/${name}`, created_at: unlocked_at };
  const page = render({ ...results, drivers: [{ ...match, company: name }] });
  expect(page).toContain(`>${name}</a>`);
  expect(page).toContain(`<span>${name}</span>`);
  expect(page).toContain(`<img src="https://a.example/${name}"`);
});

test("a badge and its text show the tier that the driver has reached", () => {
  const unlocked_at = "2024-03-09T17:05:00Z";
  const withTiers = (tier: number, defined: number) => {
    const achievement = { ...night, tier: defined, points: 1 };
    return render({ ...driver, achievements: [{ achievement, tier, unlocked_at }] });
  };
  expect(withTiers(2, 3)).toContain("Tier 2 of 3<");
  expect(withTiers(2, 3)).toContain(drawBadge({ ...night, tier: 2, points: 1 }));
  // Some datasets define an achievement's first tier and let drivers reach higher ones.
  expect(withTiers(2, 1)).toContain("Tier 2<");
});

test("a community without achievements reads nothing about achievements or points", async () => {
  const dataset = [user(1, "Zoë")];
  for (const path of ["/", "/drivers/1", "/drivers/2", "/?q=zo"]) {
    expect(await load(path, { dataset })).not.toMatch(/achieve|points/i);
  }
  // In a community that has achievements, a driver may still have none.
  const html = render({ ...driver, achievements: [] });
  expect(html).toContain("<h2>Achievements</h2><p>No achievements yet.");
  expect(html).not.toContain("0 points");
});

test("a community's own links and pictures are on its pages, but no links on a kiosk", async () => {
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

  const page = await load("/drivers/42", own);
  expect(page).toContain('href="https://hub.example/users/42">Full profile<');
  expect(page).toContain('</svg><img src="https://hub.example/badges/owl.svg" alt=""');
  const found = await load("/companies/7", own);
  expect(found).toContain('href="https://rb.example/vtc/7?from=rb">Full profile<');
  expect(found).toContain('<a href="https://x.example/i">Imprint &amp; more</a>');
  expect(found).toContain('<a href="https://rb.example/rules">Rules</a>');
  expect(await load("/drivers/42", { ...own, icons: undefined })).not.toContain("owl.svg");
  for (const icon of ["https://else.example/owl.svg", "//else.example/owl.svg", "../owl.svg", ""]) {
    const dataset = [{ ...own.dataset[0], icon }, ...own.dataset.slice(1)];
    expect(await load("/drivers/42", { ...own, dataset })).not.toContain("hub.example/badges");
  }
  for (const path of ["/?q=jan", "/drivers/42", "/companies/7"]) {
    const page = await load(path, { ...own, kiosk: true });
    expect(page).not.toMatch(/<a [^>]*href="(?!\/|#)|imprint|vtc|rules|"\/(rb\/)?docs/i);
  }
});

test("a kiosk has buttons for the languages unless one is fixed, and explains scripts if needed", async () => {
  const cookie = { accept: "text/html", cookie: "a=b; language=de" };
  const ivan = [user(1, "Иван")];
  const shown = await load("/", { kiosk: true, dataset: ivan }, cookie);
  expect(
    [...shown.matchAll(/lang="(\w+)" aria-pressed="(\w+)"/g)].map(([, ...each]) => each),
  ).toEqual(Object.keys(languages).map((language) => [language, String(language === "de")]));
  expect(shown).toContain("„ivanov“");
  expect(shown).toContain('<a role="link" aria-disabled="true" aria-label="Zur Startseite">Start<');
  // Chinese is not spelled in Latin letters, and accents need no explanation.
  const dataset = [user(1, "東京"), user(2, "Jörg")];
  expect(await load("/", { kiosk: true, dataset })).not.toContain("ivanov");
  const fixed = await load("/?q=zzzz", { kiosk: true, language: "en" }, cookie);
  expect(fixed).toContain(
    '<div class="bar"><a href="/" aria-label="Back to the start">Start</a>' +
      '<a id="back" role="link" aria-disabled="true"><span aria-hidden="true">←</span>Results</a></div>',
  );
  expect(await load("/", {}, cookie)).toContain(`<h1>${languages.en.title}</h1>`);
});

test("a kiosk's scripts know each of its pages, but neither half of one nor any other page", async () => {
  let served = "";
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(served) });
  const isKnown = async (page: string) => {
    served = page;
    return (await fetchPage(server.url.href, AbortSignal.timeout(5000))) !== undefined;
  };
  for (const path of ["/", "/?q=anna", "/drivers/42", "/drivers/1000", "/companies/3"]) {
    const page = await load(path, { kiosk: true });
    expect(await isKnown(page)).toBe(true);
    expect(await isKnown(page.slice(0, -10))).toBe(false);
    expect(await isKnown(await load(path))).toBe(false);
  }
  server.stop(true);
});

test("a kiosk, which shows no label, says in its field what can be found", async () => {
  expect(await load("/", { kiosk: true })).toContain('placeholder="Find a person or company"');
  expect(await load("/")).toContain('placeholder="Part of a name"');
});

test("on a kiosk, the pages that a search led to link back to its results", async () => {
  const linksOf = (html: string) =>
    [...html.matchAll(/<a (?:id="back" )?href="(.*?)"/g)].map(([, href]) => href);
  const back = "/?q=%C5%81ukasz";
  for (const [path, ...links] of [
    ["/?q=Łukasz", "/drivers/42?q=%C5%81ukasz"],
    ["/drivers/42?q=Łukasz", "/companies/3?q=%C5%81ukasz", back],
    ["/companies/3?q=Łukasz", "/drivers/42?q=%C5%81ukasz", back],
    ["/drivers/43?q=Łukasz", back],
  ] as const) {
    expect(linksOf(await load(path, { kiosk: true }))).toContainValues(links);
    // Browsers have a button for that.
    for (const href of linksOf(await load(path))) expect(href).not.toContain("q=");
  }
  for (const path of ["/", "/?q=Łukasz", "/?q=x", "/drivers/42"])
    expect(linksOf(await load(path, { kiosk: true }))).not.toContain(back);
  const hostile = await load('/drivers/42?q="><b>%26amp;', { kiosk: true });
  expect(linksOf(hostile)).toContain("/?q=%22%3E%3Cb%3E%26amp%3B");
  expect(hostile).not.toContain("<b>&");
});

test("on a kiosk, a company page that was refused links back to the results, too", async () => {
  const target = await openInProcess({ dataset: fixture, page: true, kiosk: true, searchLimit: 1 });
  const headers = { accept: "text/html" };
  await target.fetch("/?q=Łukasz", { headers });
  for (let page = 0; page < 300; page++) await target.fetch("/companies/3", { method: "HEAD" });
  const refused = await target.fetch("/companies/3?q=Łukasz", { headers });
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('<a id="back" href="/?q=%C5%81ukasz">');
  const search = await target.fetch("/?q=Łukasz", { headers });
  expect(search.status).toBe(429);
  expect(await search.text()).toContain('<a id="back" role="link" aria-disabled="true">');
  await target.close();
});

test("a company's page shows 24 public drivers by id, and each of its pages may be cached", async () => {
  const company = { id: 3, role: "Member" };
  const dataset = [
    { type: "company", id: 3, name: "Nord", member_count: 70 },
    { type: "company", id: 4, name: "Empty", member_count: 1 },
    ...Array.from({ length: 30 }, (_, at) => user(2 * at + 1, `Driver ${at}`, { company })),
    { type: "user", id: 2, public: false },
    user(4, "Nobody's driver"),
  ];
  const target = await openInProcess({ dataset, page: true });
  const get = async (path: string, accept = "text/html") => {
    const response = await target.fetch(path, { headers: { accept } });
    const facts = [response.status, response.headers.get("cache-control")];
    return { facts, body: await response.text() };
  };
  const found: string[] = [];
  for (const [path, accept, hasNext] of [
    ["/companies/3", "text/html", true],
    ["/companies/3?after=47", "*/*", false],
  ] as const) {
    const { facts, body } = await get(path, accept);
    expect(facts).toEqual([200, "private, max-age=60"]);
    expect(body).toContain("<h1>Nord</h1><p>70 members, 30 with a public profile</p>");
    expect(body.includes('"/companies/3?after=47">Show more<')).toBe(hasNext);
    found.push(...[...body.matchAll(/href="\/drivers\/(\d+)"/g)].map(([, id = ""]) => id));
  }
  expect(found).toEqual(Array.from({ length: 30 }, (_, at) => String(2 * at + 1)));
  // No page follows the last one, but somebody may have kept the address.
  expect((await get("/companies/3?after=59")).body).not.toContain("Nobody there");
  expect((await get("/companies/3")).body).toContain("<span>Member</span>");
  expect((await get("/companies/4?after=x")).body).toContain("Nobody there has a public profile");
  expect((await get("/companies/03")).facts).toEqual([404, "no-store"]);
  expect((await get("/companies/5", "*/*")).body).toContain('"code":"route_not_found"');
  await target.close();
});

test("a company whose members are all public, or more than it says, only says how many", async () => {
  const company = { id: 3, role: "Member" };
  const dataset = [
    { type: "company", id: 3, name: "Nord", member_count: 1 },
    ...[1, 2].map((id) => user(id, "Jan", { company })),
  ];
  expect(await load("/companies/3", { dataset })).toContain("<h1>Nord</h1><p>1 member</p>");
});

test("drivers of the same name differ by company, else by the year of joining, or by both", async () => {
  const company = { id: 3, role: "Member" };
  const dataset = [
    { type: "company", id: 3, name: "Nord", member_count: 2 },
    { type: "company", id: 4, name: "Süd", member_count: 1 },
    user(1, "Jan"),
    user(2, "Jan", { created_at: "2014-12-31T23:59:59Z" }),
    user(3, "Jan", { company: { id: 4, role: "Owner" } }),
    user(4, "Jan", { company, created_at: "2016-01-01T00:00:00Z" }),
    user(5, "Jan", { company, created_at: "2019-01-01T00:00:00Z" }),
  ];
  const expected = [
    "Member since 2021",
    "Member since 2014",
    "Süd",
    "Nord · Member since 2016",
    "Nord · Member since 2019",
  ];
  for (const path of ["/", "/?q=jan"]) {
    const page = await load(path, { dataset });
    const rows = page.matchAll(/href="\/drivers\/\d">.*?<\/a> <span>(.*?)<\/span>/g);
    expect([...rows].map(([, detail]) => detail)).toEqual(expected);
  }
});

test("a start page without public drivers says that nobody is public", async () => {
  const page = await load("/", { dataset: [{ type: "user", id: 1, public: false }] });
  expect(page).toContain('<p class="counts">Nobody has a public profile yet.</p>');
  expect(page).not.toContain("0 drivers");
  expect(page.split('class="counts"')).toHaveLength(2);
  // Featured drivers may all have become private.
  expect(await load("/", { featured: [43] })).not.toMatch(/href="\/(drivers|companies)\//);
});

test("a kiosk's page has nothing about a driver in its head, which outlives the visit", async () => {
  const [head = ""] = (await load("/drivers/42", { kiosk: true })).split("</head>");
  expect(head).not.toMatch(/nowak|drivers|baltic/i);
  expect(head).toContain("<title>Roadbook</title>");
});

test("headers of an address that is not trusted never show on a page", async () => {
  const headers = {
    accept: "text/html",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "gopher",
  };
  for (const path of ["/", "/?q=nowak", "/drivers/42", "/drivers/43", "/nowhere", "/docs"])
    expect(await load(path, {}, headers)).not.toMatch(/evil|203\.0\.113|gopher|forwarded/i);
});

test("ten results are called the first ten, and empty lists have no heading", () => {
  const { drivers, companies } = results;
  const found = (few: number, many: number) =>
    render({
      ...results,
      drivers: Array(few).fill(drivers[0]),
      companies: Array(many).fill(companies[0]),
    });
  expect(found(9, 1)).toContain(">9 drivers, 1 company<");
  expect(found(10, 10)).toContain(">First 10 drivers, first 10 companies<");
  // It cannot know whether there are more.
  const note = /There may be more than these ten\. More letters narrow it down\./g;
  expect(
    [found(9, 9), found(10, 9), found(10, 10)].map((page) => page.match(note)?.length),
  ).toEqual([undefined, 1, 2]);
  expect(found(1, 0).match(/<h2>/g)).toHaveLength(1);
  expect(found(1, 0)).toContain(">1 driver<");
  expect(found(0, 1)).toContain(">1 company<");
  expect(found(0, 0)).toContain("<h2>Nobody by that name</h2>");
  expect(found(0, 0)).not.toMatch(/class="counts"|description" content=""/);
});

test.each([
  ["trans", "Drivers"],
  ["JAN trans", "Companies"],
])("results for %s begin with %s, because companies of this name come first", (query, first) => {
  const html = render({ ...results, query });
  expect(/<h2>(\w+)/.exec(html)?.[1]).toBe(first);
  expect(html).toContain('<a href="/rb/companies/7">');
});

test("a page of results counts as one search, and says when the next one is allowed", async () => {
  const target = await openInProcess({ dataset: fixture, page: true, searchLimit: 2 });
  // Neither the start page nor a query that is too short counts.
  for (const [path, left] of [
    ["/?q=nowak", "1"],
    ["/", null],
    ["/?q=a", null],
    ["/?q=baltic", "0"],
  ] as const) {
    const { headers } = await target.fetch(path);
    expect(headers.get("x-ratelimit-remaining")).toBe(left);
    if (left) expect(headers.get("cache-control")).toBe("private, max-age=60");
  }
  const refused = await target.fetch("/?q=nowak", { headers: { accept: "text/html" } });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
  expect(refused.headers.get("cache-control")).toBe("no-store");
  expect(await refused.text()).toContain("Next search in 60:00.");
  expect((await (await target.fetch("/?q=nowak")).json()).error.code).toBe("rate_limited");
  await target.close();
});

test("pages of companies have a budget of their own, of 300 per hour, also if none exists", async () => {
  let now = 0;
  const options = { dataset: fixture, page: true, searchLimit: 1, clock: () => now };
  const target = await openInProcess(options);
  const paths = ["/companies/3", "/companies/3?after=42", "/companies/999", "/companies/x"];
  for (let page = 0; page < 300; page++) {
    const { status, headers } = await target.fetch(paths[page % paths.length] ?? "");
    expect([status === 429, headers.get("ratelimit")]).toEqual([false, null]);
  }
  const refused = await target.fetch("/companies/4", { headers: { accept: "text/html" } });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
  const html = await refused.text();
  expect(html).toContain("Next company in 60:00.");
  expect(html).toContain("You can still search");
  expect((await (await target.fetch("/companies/4")).json()).error.code).toBe("rate_limited");
  // Neither budget uses up the other one.
  expect((await target.fetch("/search/users?q=no")).status).toBe(200);
  expect((await target.fetch("/search/users?q=no")).status).toBe(429);
  now += 3_600_000;
  expect((await target.fetch("/companies/3")).status).toBe(200);
  await target.close();
});

test("a page for 400 code points has results, and one for 401 says that there are none", async () => {
  const words = "an+".repeat(132);
  expect(await load(`/?q=${words}nowa`)).toContain(">Anna Nowak</a>");
  const html = await load(`/?q=${words}nowak${"%3C".repeat(4000)}`);
  expect(html).toContain("<h2>Nobody by that name</h2>");
  expect(html.length).toBeLessThan(12_000);
});

test("queries and names are never interpreted as markup", () => {
  const avatar_url = 'https://a.example/"onload="x';
  const html = render({
    ...results,
    query: "<script>alert(1)</script>",
    drivers: [
      {
        id: 1,
        name: "<img onerror=x>",
        avatar_url,
        company: "<b>",
        created_at: "2021-05-01T10:00:00Z",
      },
    ],
    companies: [{ id: 1, name: "<i>", member_count: 2 }],
  });
  expect(html).not.toMatch(/<script>|<img onerror|"onload=|<b>&|<i>/);
});

describe.each(Object.entries(languages))("in the language %s", (language, texts) => {
  const { booleans, badges, ...shown } = texts;
  const rules = new Intl.PluralRules(language);
  const counts = [...Array(200).keys(), 1_000_000];
  const forms = [...new Set(counts.map((count) => rules.select(count)))].sort();

  /** The placeholders of each text. The plural forms of a count are one text. */
  const placeholdersOf = (text: unknown): unknown => {
    if (typeof text !== "object" || text === null) {
      expect(text).toEqual(expect.stringMatching(/^\S.*\S$/s));
      return (String(text).match(/\{.*?\}/g) ?? []).sort().join();
    }
    const entries = Object.entries(text).map(([key, each]) => [key, placeholdersOf(each)]);
    return "one" in text ? new Set(entries.map(([, each]) => each)) : Object.fromEntries(entries);
  };

  test("the texts have the same keys and placeholders as in English, and all plural forms", () => {
    const { booleans, badges, ...english } = languages.en;
    expect(placeholdersOf(shown)).toEqual(placeholdersOf(english));
    for (const text of Object.values(shown))
      if ("one" in Object(text)) expect(Object.keys(text).sort()).toEqual(forms);
  });

  test("the page is in the language that the reader's browser asks for", async () => {
    const headers = { "accept-language": `${language}-AT,x;q=0.5`, accept: "text/html" };
    expect(await load("/", {}, headers)).toContain(`<h1>${texts.title}</h1>`);
    expect(await load("/", { language: "pl" }, headers)).toContain("<h1>Kto jest w trasie</h1>");
  });
});

test.each([
  ["/drivers/43", 403, "This profile is private"],
  ["/drivers/999999", 404, "No such profile"],
  ["/?q=a", 200, "One letter is not enough"],
  ["/?q=zzzzqq", 200, "Results for “zzzzqq”"],
])("%s is a %d with a heading and a link to the start", async (path, status, heading) => {
  const target = await openInProcess({ dataset: fixture, page: true });
  const response = await target.fetch(path, { headers: { accept: "text/html" } });
  const html = await response.text();
  await target.close();
  expect(response.status).toBe(status);
  expect(html).toContain(`<h1>${heading}</h1>`);
  expect(html).toContain('<a href="/">Back to the start<');
});

test.each([
  ["en-GB,en;q=0.9", "7 January 2014"],
  ["en-US,en;q=0.9", "January 7, 2014"],
  ["en", "January 7, 2014"],
  ["en, EN-au;q=0.5", "7 January 2014"],
  ["fr;q=0.5, en-ZA;q=0.8", "07 January 2014"],
  ["en-XX", "January 7, 2014"],
  ["en-GB-oxendict", "January 7, 2014"],
  ["de-AT", "7. Jänner 2014"],
  ["de-CH", "7. Januar 2014"],
  ["fr-CA", "7 janvier 2014"],
  ["es-HN", "07 de enero de 2014"],
  ["es-419", "7 de enero de 2014"],
  ["pl-PL", "7 stycznia 2014"],
  ["cs-CZ", "7. ledna 2014"],
])("dates are in the order and the words of the region in %s", async (accepted, date) => {
  const person = { ...user(42, "Jan"), created_at: "2014-01-07T23:59:59Z" };
  const headers = { "accept-language": accepted, accept: "text/html" };
  const written = `>${date}</time>`;
  expect(await load("/drivers/42", { dataset: [person] }, headers)).toContain(written);
});

test("the region is that of the page's language, whoever chose the language", async () => {
  const dated = async (options: object, accepted: string, cookie = "") => {
    const headers = { "accept-language": accepted, accept: "text/html", cookie };
    return (await load("/drivers/42", options, headers)).match(/<time[^>]*>(.*?)</)?.[1];
  };
  expect(await dated({ language: "en" }, "de-AT, en-GB;q=0.1")).toBe("1 May 2021");
  expect(await dated({ language: "en" }, "de-AT")).toBe("May 1, 2021");
  expect(await dated({ kiosk: true }, "de-AT, en-GB;q=0.1", "language=en")).toBe("1 May 2021");
});

test.each([
  ["en", "QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"],
  ["de", "QWERTZUIOP", "ASDFGHJKL", "YXCVBNM"],
  ["pl", "QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"],
  ["fr", "AZERTYUIOP", "QSDFGHJKLM", "WXCVBN"],
  ["es", "QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"],
  ["cs", "QWERTZUIOP", "ASDFGHJKL", "YXCVBNM"],
])("a kiosk in the language %s has the rows of its keyboard", async (language, ...rows) => {
  const html = await load(
    "/",
    { kiosk: true },
    { "accept-language": language, accept: "text/html" },
  );
  const [, keys = ""] = /<div class="keys">(.*?)<\/div><\/div>/s.exec(html) ?? [];
  const found = keys.split("</div>").map((row) => row.replace(/<[^>]*>|\s/g, ""));
  const [top, home, bottom] = rows;
  expect(found).toEqual(["1234567890", top, home, `${bottom}␣⌫`] as string[]);
  for (const key of rows.join("")) expect(keys).toContain(`value="${key.toLowerCase()}"`);
});
