/** HTML as text: a template in which every value is escaped unless it is HTML already. No DOM here. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Puts `basePath` in front of the links of a finished page. Quotes in its texts are escaped, so nothing
 * but an attribute looks like one.
 */
export function withBasePath(page: string, basePath: string): string {
  return page.replace(/(?<= (?:href|src|action)=")(?=\/)/g, () => html`${basePath}`.text);
}

type Value = Html | string | number | false | null | undefined | readonly Value[];

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Joins the parts of a template; strings and numbers are escaped, lists joined, `false` left out. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + toText(values[index - 1]) + part));
}

function toText(value: Value): string {
  if (value === undefined || value === null || value === false) return "";
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(toText).join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
