/** Drawn avatars and badges, which differ for consecutive ids. */
import { describe, expect, test } from "bun:test";
import symbols from "../../src/web/badges.json" with { type: "json" };
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
    ["محمد عبد الله", "م\u200cا"],
    ["יוסי כהן", "יכ"],
    ["❤️", "?"],
    ["<b>", "B"],
  ])("of %s shows %s", (name, monogram) => {
    expect(drawAvatar(7, name)).toContain(`>${monogram}</text>`);
  });
});

describe("a badge", () => {
  test.each([
    ["Open Microphone", "community", "mic"],
    ["Six Zeros", "economy", "coins"],
    ["Nachteule", "strecke_und_zeit", "moon"],
    ["Petit déjeuner", "", "cup"],
    ["Święty spokój", "bezpieczeństwo", "shield"],
    ["Poslední jízda", "dálnice", "road"],
    ["Piano Forte", "delivery", "box"],
  ] as const)("of %s (%s) shows the symbol %s", (name, type, symbol) => {
    const badge = drawBadge({ name, type, tier: 1, points: 5 });
    expect(badge).toContain(`<path d="${symbols[symbol]}"`);
  });

  test.each([
    ["Open Microphone", "night_drive", "mic"],
    ["Unwrapped", "night_drive", "moon"],
    ["Unwrapped", "ideal", "cup"],
  ] as const)("of %s (%s) has the symbol %s, and below it the points", (name, type, symbol) => {
    const numberOn = (points: number) => {
      const badge = drawBadge({ name, type, tier: 1, points });
      const [, path, number] = /<path d="([^"]+)" transform.*>([\w.]+)<\/text>/.exec(badge) ?? [];
      expect(path).toBe(symbols[symbol]);
      return number;
    };
    expect([0, 250, 12_345].map(numberOn)).toEqual(["0", "250", "12.3K"]);
  });

  test("differs by type and tier, and has a rim at any tier", () => {
    const night = { name: "Night Owl", type: "time", tier: 1, points: 5 };
    const badges = [night, { ...night, tier: 2 }, { ...night, type: "distance" }];
    expect(new Set(badges.map((badge) => drawBadge(badge))).size).toBe(badges.length);
    for (const tier of [0, 5, 99]) expect(drawBadge({ ...night, tier })).not.toContain('fill=""');
  });
});
