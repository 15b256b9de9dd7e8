/** A template tag that escapes all values except nested HTML. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Quotes in text are escaped, so the pattern matches only attributes. */
export function withBasePath(page: string, basePath: string): string {
  if (basePath === "") return page;
  return page.replace(/(?<= (?:href|src|action)=")(?=\/)/g, () => html`${basePath}`.text);
}

type Value = Html | string | number | false | null | undefined | readonly Value[];

const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" };

/** Escapes strings and numbers, joins lists, and omits `false`, `null` and `undefined`. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  let text = parts[0] ?? "";
  for (let at = 0; at < values.length; at++) text += toText(values[at]) + parts[at + 1];
  return new Html(text);
}

function toText(value: Value): string {
  if (value === undefined || value === null || value === false) return "";
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(toText).join("");
  let text = String(value);
  if (!/[&<>"']/.test(text)) return text;
  // Several times as fast as a function that replaces each match. & comes first.
  for (const character in names) text = text.replaceAll(character, `&${names[character]};`);
  return text;
}
