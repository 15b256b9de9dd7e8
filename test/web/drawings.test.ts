/** Drawn avatars and badges, which differ for consecutive ids. */
import { describe, expect, test } from "bun:test";
import { drawAvatar, drawBadge } from "../../src/web/drawings.ts";

describe("an avatar", () => {
  test("differs in colour and pattern from the avatars of adjacent ids", () => {
    const coloursOf = (id: number) => drawAvatar(id, "A").match(/hsl\((\d+)/)?.[1];
    const patternOf = (id: number) => drawAvatar(id, "A").match(/<path d="([^"]+)"/)?.[1];
    for (let id = 1; id < 2000; id++) {
      const distance = Math.abs(Number(coloursOf(id)) - Number(coloursOf(id + 1)));
      expect(Math.min(distance, 360 - distance)).toBeGreaterThan(90);
      expect(patternOf(id)).not.toBe(patternOf(id + 1));
    }
  });

  test.each([
    ["Łukasz Nowak", "ŁN"],
    ["[TAG] max_power", "TP"],
    ["Jean-Luc van der Berg", "JB"],
    ["Γιώργος Βλάχος", "ΓΒ"],
    ["❤️", "?"],
  ])("of %s shows %s", (name, monogram) => {
    expect(drawAvatar(7, name)).toContain(`>${monogram}</text>`);
  });

  test("escapes the name", () => {
    expect(drawAvatar(7, "<b>")).not.toContain("<b>");
  });
});

describe("a badge", () => {
  test("differs by name, type and tier", () => {
    const badges = [
      { name: "Night Owl", type: "time", tier: 1 },
      { name: "Night Owl", type: "time", tier: 2 },
      { name: "Night Owl", type: "distance", tier: 1 },
      { name: "Early Bird", type: "time", tier: 1 },
    ].map((badge) => drawBadge(badge));
    expect(new Set(badges).size).toBe(badges.length);
    for (const badge of badges) expect(badge).toStartWith("<svg xmlns=");
  });

  test("has a rim at any tier", () => {
    for (const tier of [0, 5, 99]) {
      expect(drawBadge({ name: "A", type: "b", tier })).not.toContain('fill=""');
    }
  });
});
