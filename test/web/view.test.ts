/** What the page shows for each address, read from a real API; and its HTML. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { pageAssets } from "../../src/assets.ts";
import { renderView, titleOf } from "../../src/web/render.ts";
import { languages } from "../../src/web/texts.ts";
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

test("the script is under 8 KB when it is compressed", async () => {
  const { script } = await pageAssets();
  expect(Bun.gzipSync(script.text).length).toBeLessThan(8 * 1024);
});

test("the start has the featured drivers who are public", async () => {
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

test("a private profile, an unknown driver and an odd address are told apart", async () => {
  expect(problemOf(await load("/drivers/43"))).toBe("private");
  expect(problemOf(await load("/drivers/999999"))).toBe("unknown");
  expect(problemOf(await load("/drivers/abc"))).toBe("unknown");
});

test("one letter asks for nothing", async () => {
  expect(problemOf(await loadView({ path: "/", query: " a " }, [], () => Promise.reject()))).toBe(
    "short",
  );
});

test("a server that is gone is a view too", async () => {
  const gone = () => Promise.reject(new TypeError("connection refused"));
  expect(problemOf(await loadView({ path: "/drivers/42", query: "" }, [], gone))).toBe("offline");
});

test("a search costs two requests, says what is left, and ends in a wait", async () => {
  expect(await load("/", "nowak")).toMatchObject({ kind: "results", searchesLeft: 2 });
  const results = await load("/", "baltic");
  expect(results).toMatchObject({ searchesLeft: 1, companies: [{ name: "Baltic Express" }] });
  expect(renderView(results, "en").text).toContain("1 search left this hour");
  expect(await load("/", "zzzz")).toMatchObject({ drivers: [], companies: [], searchesLeft: 0 });
  const limited = await load("/", "nowak");
  expect(problemOf(limited)).toBe("limited");
  expect(renderView(limited, "en").text).toContain("Search again in 60 minutes.");
  expect(renderView(limited, "de").text).toContain("Neue Suche in 60 Minuten.");
});

test("what people typed is text in the page, never markup", () => {
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

test("every language has every text", () => {
  const shapeOf = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)])
      : typeof value;
  for (const texts of Object.values(languages))
    expect(shapeOf(texts)).toEqual(shapeOf(languages.en));
});
