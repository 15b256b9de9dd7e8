/** The page with a community's own name, colour and logo. */
import { expect, test } from "bun:test";
import crypto from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { styleOf, textColourOn } from "../../src/web/brand.ts";
import { community } from "../datasets.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

const svg = `<?xml version="1.0"?>
<!-- <svg> -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [ <!ENTITY ns "x"> ]>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>`;
const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const open = (options: object) => openInProcess({ dataset: community, page: true, ...options });

const luminanceOf = (colour: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number(`0x${colour.slice(at, at + 2)}`) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrastOf = (colour: string, other: string) => {
  const ratio = luminanceOf(colour) / luminanceOf(other);
  return Math.max(ratio, 1 / ratio);
};

const colour = fc
  .integer({ min: 0x1000000, max: 0x1ffffff })
  .map((number) => `#${number.toString(16).slice(1)}`);

test("text has a contrast of at least 4.5 on any accent colour", () => {
  const holds = fc.property(colour, (accent) => contrastOf(textColourOn(accent), accent) >= 4.5);
  fc.assert(holds, { numRuns: 2000 });
});

/** The colour of rules. */
function lineOf(accent: string, mode: "light" | "dark"): string {
  const [light = "", dark = ""] = styleOf(accent).split("@media(prefers-color-scheme:dark)");
  const style = mode === "light" ? light : dark;
  return /:root\{.*?--line:(#\w+)/.exec(style)?.[1] ?? expect.unreachable();
}

test("rules in an accent that would vanish are shaded", () => {
  const holds = fc.property(colour, (accent) => {
    for (const [mode, paper, minimum] of [
      ["light", "#ffffff", 1.5],
      ["dark", "#101214", 3],
    ] as const) {
      const shown = lineOf(accent, mode);
      const contrast = contrastOf(shown, paper);
      if (contrastOf(accent, paper) >= minimum) expect(shown).toBe(accent);
      else expect([contrast >= 3, contrast < 3.2]).toEqual([true, true]);
    }
  });
  fc.assert(holds, { numRuns: 2000 });
  expect(lineOf("#ffc61a", "light")).toBe("#ffc61a");
  expect(lineOf("#ffffff", "light")).toBe("#949494");
  expect(lineOf("#0a3d62", "dark")).toBe("#3d6683");
});

test("a custom name replaces Roadbook in the title and on the sign", async () => {
  const target = await open({ title: 'Truckers <& "Friends">' });
  for (const path of ["/", "/?q=nowak", "/drivers/42", "/drivers/43"]) {
    const page = await (await target.fetch(path, { headers: { accept: "text/html" } })).text();
    const name = "Truckers &lt;&amp; &quot;Friends&quot;&gt;";
    expect(page).toContain(` · ${name}</title>`);
    expect(page).toContain(`aria-label="${name}, home">${name}</a>`);
    expect(page).not.toContain("Roadbook");
  }
  await target.close();
});

test("a custom colour changes the icon, and the style sheet's content and file name", async () => {
  const plain = await open({});
  const dark = await open({ accent: "0A3D62" });
  const findStyle = async (target: typeof plain) =>
    /href="(\/assets\/page[^"]+css)"/.exec(await (await target.fetch("/")).text())?.[1] ?? "";
  const file = await findStyle(dark);
  expect(file).not.toBe(await findStyle(plain));
  const style = await (await dark.fetch(file)).text();
  expect(file).toBe(`/assets/page-${crypto.hash("sha256", style).slice(0, 12)}.css`);
  expect(style).toEndWith(
    ":root{--accent:#0a3d62;--on-accent:#ffffff;--line:#0a3d62;--on-line:#ffffff}" +
      "@media(prefers-color-scheme:dark){:root{--line:#3d6683;--on-line:#ffffff}}",
  );
  expect(await (await dark.fetch("/favicon.svg")).text()).toContain('fill="#0a3d62"');
  expect(await (await plain.fetch("/favicon.svg")).text()).toContain('fill="#ffc61a"');
  await Promise.all([plain.close(), dark.close()]);
});

test("a style sheet or script of another version is the current one, uncached", async () => {
  const current = await open({});
  const read = async (file: string) => {
    const response = await current.fetch(file);
    const { headers } = response;
    return [headers.get("content-type"), headers.get("cache-control"), await response.text()];
  };
  const page = await (await current.fetch("/")).text();
  const files = page.match(/(?<=")\/assets\/page[^"]+/g) ?? [];
  expect(files).toHaveLength(2);
  for (const file of files) {
    const [type = "", , text = ""] = await read(file);
    const other = await read(file.replace(/page-\w{12}/, "page-0123456789ab"));
    expect(other).toEqual([type, "no-store", text]);
  }
  for (const name of ["page.css", "page-1.js", "page-0123456789ab.svg", "%2F.js"])
    expect((await current.fetch(`/assets/${name}`)).status).toBe(404);
  await current.close();
});

test.each([
  ["SVG", Buffer.from(svg), "image/svg+xml"],
  ["PNG", png, "image/png"],
])(
  "a logo (%s) is shown on the sign and as the icon, and scripts in the logo never run",
  async (_, bytes, type) => {
    const path = join(temporaryFolder(), "logo");
    writeFileSync(path, bytes);
    for (const logo of [path, bytes]) {
      const target = await open({ logo });
      const page = await (await target.fetch("/")).text();
      const [, file = ""] =
        /<img src="(\/assets\/logo-[^"]+)" alt=""><\/span>Roadbook</.exec(page) ?? [];
      expect(page).toContain(`<link rel="icon" href="${file}">`);
      const response = await target.fetch(file);
      expect(response.headers.get("content-type")).toBe(type);
      expect(response.headers.get("content-security-policy")).toBe(
        "default-src 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; img-src data:",
      );
      expect(response.headers.get("cache-control")).toContain("immutable");
      expect(Buffer.from(await response.bytes()).equals(bytes)).toBeTrue();
      await target.close();
    }
  },
);

const none = join(temporaryFolder(), "none");
const large = Buffer.alloc(256 * 1024 + 1);
test.each([
  [{ logo: none }, `${none} cannot be read: no such file or directory`],
  [{ logo: Buffer.from("<html><svg>") }, "the logo is neither an SVG nor a PNG"],
  [
    { logo: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" title="a > viewBox"/>') },
    'the logo has no viewBox, so browsers cannot scale it: add viewBox="0 0 WIDTH HEIGHT" to its',
  ],
  [{ logo: large }, "the logo is larger than 256 KB, the maximum for a logo"],
  [{ accent: "green" }, 'accent must be a colour such as #0a7d4f, got "green"'],
])("%p is rejected: %s", async (options, message) => {
  await expect(open(options)).rejects.toThrow(message);
});
