/** The page's link previews, and the sitemap for search engines. */
import { expect, test } from "bun:test";
import { createRoadbook } from "../../src/roadbook.ts";
import { community, user } from "../datasets.ts";
import { openInProcess } from "../support.ts";

const page = { dataset: community, page: true, language: "en", searchLimit: 0 } as const;

type Options = Parameters<typeof openInProcess>[0];

/** The meta tags of a page by name, its canonical link, and its HTML. */
async function tagsOf(path: string, options: Partial<Options> = {}) {
  const target = await openInProcess({ ...page, ...options });
  const html = await (await target.fetch(path, { headers: { accept: "text/html" } })).text();
  await target.close();
  const tags = html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g);
  const [, canonical] = /<link rel="canonical" href="([^"]*)">/.exec(html) ?? [];
  return { canonical, html, ...Object.fromEntries([...tags].map(([, ...tag]) => tag)) };
}

const find = "Find people and companies, and see what they have achieved.";
test.each([
  ["/", "Who is on the road", `${find} 2 drivers, 2 companies.`],
  ["/?q=%C5%82u+%26", "Results for “łu &amp;”", "Nobody by that name"],
  ["/drivers/42", "Łukasz Nowak", "Baltic Express, Owner · Member since May 1, 2021"],
  ["/companies/3?after=9", "Baltic Express", "41 members, 2 with a public profile · Club"],
])("%s has its own URL, title and description", async (path, title, description) => {
  const url = `https://example.org/rb${path}`;
  expect(await tagsOf(path, { publicUrl: "https://example.org/rb", title: "Club" })).toMatchObject({
    canonical: url,
    "og:url": url,
    description,
    "og:description": description,
    "og:site_name": "Club",
    "og:title": title,
  });
});

test("private drivers, unknown drivers and invalid ids get the site's preview", async () => {
  const previews = ["/drivers/43", "/drivers/999", "/drivers/abc"].map(async (path) => {
    const { html, ...tags } = await tagsOf(path);
    const [head = ""] = html.split("</head>");
    expect(head).not.toMatch(/\/avatars\/|<svg|"canonical"|og:url/);
    // The page's other drivers are public.
    expect(html).not.toContain('"/drivers/43"');
    return tags;
  });
  const [first, ...others] = await Promise.all(previews);
  expect(first).toMatchObject({ "og:type": "website", "og:title": "Who is on the road" });
  for (const other of others) expect(other).toEqual(first);
});

test.each([
  ["/drivers/1", "https://avatars.example/1.png"],
  // A dataset may name a drawing by its path or its URL.
  ["/drivers/2", "logo"],
  ["/drivers/3", "logo"],
  ["/drivers/4", "logo"],
  ["/drivers/999", "logo"],
  ["/", "logo"],
])("the preview of %s shows %s", async (path, image) => {
  const dataset = [
    user(1, "Ann"),
    user(2, "Bob", { avatar_url: null }),
    user(3, "Cat", { avatar_url: "/avatars/cat.svg" }),
    user(4, "Dan", { avatar_url: "http://roadbook.test/avatars/4.svg" }),
  ];
  const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>');
  const { "og:image": shown, "twitter:card": card } = await tagsOf(path, { dataset, logo: png });
  expect(card).toBe("summary");
  if (image === "logo") expect(shown).toMatch(/^http:\/\/roadbook\.test\/assets\/logo-\w+\.png$/);
  else expect(shown).toBe(image);
  for (const logo of [svg, undefined]) {
    const { "og:image": shown } = await tagsOf(path, { dataset, logo });
    expect(shown).toBe(image === "logo" ? undefined : image);
  }
});

test("only a number names the drawing of an avatar", async () => {
  const target = await openInProcess(page);
  const outcomes: Record<string, string> = {
    "43.svg": "profile_private",
    "999.svg": "user_not_found",
    "0.svg": "invalid_user_id",
    "042.svg": "invalid_user_id",
    "12345678901234567.svg": "invalid_user_id",
    "ann.svg": "route_not_found",
    "42.gif.svg": "route_not_found",
    "-42.svg": "route_not_found",
    "42%0a.svg": "route_not_found",
    ".svg": "route_not_found",
    "42.png": "route_not_found",
  };
  for (const [file, code] of Object.entries(outcomes)) {
    const { error } = await (await target.fetch(`/avatars/${file}`)).json();
    expect([file, error.code]).toEqual([file, code]);
  }
  await target.close();
});

test("the sitemap lists each company that has a public driver, and the public drivers", async () => {
  const company = { type: "company" as const, name: "Nord", member_count: 9 };
  const users = Array.from({ length: 3000 }, (_, at) => {
    const company = at === 6 || at === 7 ? { id: at - 3, role: "Owner" } : null;
    return user(at + 1, `Driver ${at}`, { company });
  });
  const dataset = [...[3, 4, 5].map((id) => ({ ...company, id })), ...users];
  const publicUrl = "https://example.org/rb";
  await using roadbook = await createRoadbook({ ...page, dataset, allowIndexing: true, publicUrl });
  const locations = async () => {
    const headers = { "accept-encoding": "gzip" };
    const response = await roadbook.fetch(new Request(`${publicUrl}/sitemap.xml`, { headers }));
    expect(response.headers.get("content-type")).toBe("application/xml; charset=utf-8");
    const bytes = await response.bytes();
    const isCoded = response.headers.get("content-encoding") === "gzip";
    const text = new TextDecoder().decode(isCoded ? Bun.gunzipSync(bytes) : bytes);
    return [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = ""]) => url);
  };
  const urls = [
    ...[3, 4].map((id) => `${publicUrl}/companies/${id}`),
    ...users.map(({ id }) => `${publicUrl}/drivers/${id}`),
  ];
  expect(await locations()).toEqual(urls);
  await roadbook.apply([{ type: "user", id: 7, public: false }]);
  expect(await locations()).toEqual(urls.filter((url) => !/\/(7|companies\/3)$/.test(url)));
  const robots = await roadbook.fetch(new Request(`${publicUrl}/robots.txt`));
  expect(await robots.text()).toBe(`User-agent: *\nAllow: /\nSitemap: ${publicUrl}/sitemap.xml\n`);
});

test("a sitemap has at most 50,000 addresses: the companies, and the drivers of the lowest ids", async () => {
  const company = { type: "company" as const, id: 9, name: "Nord", member_count: 9 };
  const users = Array.from({ length: 50_001 }, (_, at) => {
    return user(at + 1, `Driver ${at}`, { company: { id: 9, role: "Owner" } });
  });
  const dataset = [company, ...users];
  await using roadbook = await createRoadbook({ ...page, dataset, allowIndexing: true });
  const response = await roadbook.fetch(new Request("http://roadbook.test/sitemap.xml"));
  const paths = [...(await response.text()).matchAll(/<loc>http:\/\/roadbook\.test(.*?)</g)];
  expect(paths).toHaveLength(50_000);
  const ends = [paths[0]?.[1], paths[1]?.[1], paths.at(-1)?.[1]];
  expect(ends).toEqual(["/companies/9", "/drivers/1", "/drivers/49999"]);
});

test("clients that wait for the sitemap at the same time each get the addresses of their host", async () => {
  const users = Array.from({ length: 12_000 }, (_, at) => user(at + 1, `Driver ${at}`));
  await using roadbook = await createRoadbook({ ...page, dataset: users, allowIndexing: true });
  const hosts = ["one.test", "one.test", "two.test", "one.test"];
  const sitemaps = hosts.map(async (host) => {
    const headers = { "accept-encoding": "gzip" };
    const request = new Request(`http://${host}/sitemap.xml`, { headers });
    const response = await roadbook.fetch(request);
    // Compressing it would delay other requests.
    expect(response.headers.get("content-encoding")).toBeNull();
    return { host, text: await response.text() };
  });
  for (const { host, text } of await Promise.all(sitemaps)) {
    expect(text.split(`<loc>http://${host}/drivers/`)).toHaveLength(users.length + 1);
  }
});

test("the sitemap of a community without public drivers has no address", async () => {
  const company = { type: "company" as const, id: 9, name: "Nord", member_count: 9 };
  const target = await openInProcess({ ...page, dataset: [company], allowIndexing: true });
  const text = await (await target.fetch("/sitemap.xml")).text();
  expect(text).toEndWith(
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n</urlset>\n',
  );
  await target.close();
});

test("without --allow-indexing there is no sitemap", async () => {
  const target = await openInProcess(page);
  expect((await target.fetch("/sitemap.xml")).status).toBe(404);
  const rules =
    "User-agent: *\nDisallow: /\n\nUser-agent: Twitterbot\nUser-agent: facebookexternalhit\n";
  expect(await (await target.fetch("/robots.txt")).text()).toBe(`${rules}Allow: /\n`);
  await target.close();
});
