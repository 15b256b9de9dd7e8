/** A template tag that escapes all values except nested HTML. */
import { escapeUTF8 } from "entities/escape";

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | false | null | undefined | readonly Value[];

/** Escapes strings and numbers, joins arrays, and omits `false`, `null` and `undefined`. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  let text = parts[0] ?? "";
  for (let at = 0; at < values.length; at++) text += toText(values[at]) + parts[at + 1];
  return new Html(text);
}

function toText(value: Value): string {
  if (value === undefined || value === null || value === false) return "";
  if (value instanceof Html) return value.text;
  return Array.isArray(value) ? value.map(toText).join("") : escapeUTF8(String(value));
}
