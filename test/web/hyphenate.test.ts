/** Soft hyphens in long words. */
import { expect, test } from "bun:test";
import { Html } from "../../src/web/html.ts";
import { hyphenate } from "../../src/web/hyphenate.ts";

test.each([
  ["Straßenverkehrsgenossenschaft", "Stra-ßen-ver-kehrs-ge-nos-sen-schaft"],
  ["Streckenaufsicht &amp; Hauptbetriebswerk", "Stre-cke-nauf-sicht &amp; Haupt-be-triebs-werk"],
  ["Nejneobhospodařovávatelnějšími", "Nej-neob-hos-po-da-řo-vá-va-tel-něj-šími"],
  ["Железнодорожностроительный", "Же-лез-но-до-рож-ност-рои-тельный"],
  // Fifteen letters, and no syllables.
  ["Internationaler", "Internationaler"],
  ["wwwwwwwwwwwwwwwwwwwwwwww", "wwwwwwwwwwwwwwwwwwwwwwww"],
])("the text %s may break as in %s, and the attribute stays", (text, expected) => {
  const { text: shown } = hyphenate(new Html(`<p title="${text}"><b>${text}</b></p>`));
  expect(shown.replaceAll("\u00ad", "-")).toBe(`<p title="${text}"><b>${expected}</b></p>`);
});
