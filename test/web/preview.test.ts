/** The page's link previews, and the sitemap for search engines. */
import { expect, test } from "bun:test";
import { createRoadbook } from "../../src/roadbook.ts";
import { drawAvatarPng } from "../../src/web/drawings.ts";
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

const find = "Find drivers and companies, and see what they have achieved.";
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
    "twitter:card": path === "/drivers/42" ? "summary" : "summary_large_image",
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
  ["/drivers/2", "http://roadbook.test/avatars/2.png"],
  ["/drivers/3", "http://roadbook.test/avatars/cat.svg"],
  // A dataset may name the drawing itself.
  ["/drivers/4", "http://roadbook.test/avatars/4.png"],
  ["/drivers/5", "http://roadbook.test/avatars/5.png"],
  ["/", "http://roadbook.test/sign.png"],
])("the preview of %s shows %s", async (path, image) => {
  const dataset = [
    user(1, "Ann"),
    user(2, "Bob", { avatar_url: null }),
    user(3, "Cat", { avatar_url: "/avatars/cat.svg" }),
    user(4, "Dan", { avatar_url: "/avatars/4.svg" }),
    user(5, "Eve", { avatar_url: "http://roadbook.test/avatars/5.svg" }),
  ];
  expect(await tagsOf(path, { dataset })).toMatchObject({ "og:image": image });
});

test("the drawn picture has the logo, the title and the number of drivers", async () => {
  const logoOf = (content: string) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${content}`);
  const titles = ["Roadbook", "Łódź", "Lodz", "Вантажівки", "東京", "🚚", "ab ".repeat(99)];
  const options: Partial<Options>[] = titles.map((title) => ({ title }));
  options.push({ accent: "0a7d4f" }, { dataset: [user(1, "Ann")] }, { language: "pl" });
  options.push({ logo: logoOf("<circle r='5'/></svg>") }, { logo: await drawAvatarPng(1, "Ann") });
  options.push({ logo: logoOf("this cannot be drawn") });
  const pictures = options.map(async (each) => {
    const target = await openInProcess({ ...page, ...each });
    const bytes = Buffer.from(await (await target.fetch("/sign.png")).bytes());
    await target.close();
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([600, 315]);
    return Bun.hash(bytes);
  });
  expect(new Set(await Promise.all(pictures)).size).toBe(options.length);
});

test("the PNG of a public driver has 256×256 pixels and the initials", async () => {
  const target = await openInProcess(page);
  const response = await target.fetch("/avatars/42.png");
  const bytes = Buffer.from(await response.bytes());
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([256, 256]);
  for (const name of ["Łukasz Nowak", "Lukasz Nowak", "東京"])
    expect(bytes.equals(await drawAvatarPng(42, name))).toBe(name === "Łukasz Nowak");
  await target.close();
});

test.each(["svg", "png"])("only a number names an avatar in a .%s file", async (kind) => {
  const target = await openInProcess(page);
  const outcomes: Record<string, string> = {
    "43": "profile_private",
    "999": "user_not_found",
    "0": "invalid_user_id",
    "042": "invalid_user_id",
    "12345678901234567": "invalid_user_id",
    ann: "route_not_found",
    "42.gif": "route_not_found",
    "-42": "route_not_found",
    "42%0a": "route_not_found",
    "": "route_not_found",
  };
  for (const [name, code] of Object.entries(outcomes)) {
    const { error } = await (await target.fetch(`/avatars/${name}.${kind}`)).json();
    expect([name, error.code]).toEqual([name, code]);
  }
  expect((await target.fetch("/avatars/42.gif")).status).toBe(404);
  await target.close();
});

test("the sitemap lists every public driver and each company that has one, once", async () => {
  const company = { type: "company" as const, name: "Nord", member_count: 9 };
  const users = Array.from({ length: 11_000 }, (_, at) => {
    const company = at === 6 || at === 7 ? { id: at - 3, role: "Owner" } : null;
    return user(at + 1, `Driver ${at}`, { company });
  });
  const dataset = [...[3, 4, 5].map((id) => ({ ...company, id })), ...users];
  const publicUrl = "https://example.org/rb";
  await using roadbook = await createRoadbook({ ...page, dataset, allowIndexing: true, publicUrl });
  const locationsIn = async (url: string) => {
    const response = await roadbook.fetch(new Request(url));
    expect(response.headers.get("content-type")).toBe("application/xml; charset=utf-8");
    return [...(await response.text()).matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = ""]) => url);
  };
  const listDrivers = async () => {
    const pages = await locationsIn(`${publicUrl}/sitemap.xml`);
    expect(pages.length).toBeGreaterThan(1);
    return (await Promise.all(pages.map(locationsIn))).flat().sort();
  };
  const urls = [
    ...users.map(({ id }) => `${publicUrl}/drivers/${id}`),
    ...[3, 4].map((id) => `${publicUrl}/companies/${id}`),
  ].sort();
  expect(await listDrivers()).toEqual(urls);
  await roadbook.apply([{ type: "user", id: 7, public: false }]);
  expect(await listDrivers()).toEqual(urls.filter((url) => !/\/(7|companies\/3)$/.test(url)));
  const robots = await roadbook.fetch(new Request(`${publicUrl}/robots.txt`));
  expect(await robots.text()).toBe(`User-agent: *\nAllow: /\nSitemap: ${publicUrl}/sitemap.xml\n`);
  for (const file of ["999.xml", "00.xml"])
    expect((await roadbook.fetch(new Request(`${publicUrl}/sitemaps/${file}`))).status).toBe(404);
});

test("without --allow-indexing there is no sitemap", async () => {
  const target = await openInProcess(page);
  expect((await target.fetch("/sitemap.xml")).status).toBe(404);
  expect((await target.fetch("/sitemaps/0.xml")).status).toBe(404);
  const rules =
    "User-agent: *\nDisallow: /\n\nUser-agent: Twitterbot\nUser-agent: facebookexternalhit\n";
  expect(await (await target.fetch("/robots.txt")).text()).toBe(`${rules}Allow: /\n`);
  await target.close();
});
