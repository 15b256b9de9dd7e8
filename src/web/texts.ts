/** Completes the texts of the page. */
import type { Texts } from "../domain/languages.ts";

/** Replaces the word for drivers by the plural of a community's own, which has no other forms. */
export function callPeople(people: string | undefined, texts: Texts): Texts {
  if (people === undefined) return texts;
  const counted = `${people}: {count}`;
  return {
    ...texts,
    drivers: people,
    featured: people,
    driversOf: `{title}: ${people}`,
    driverCount: { other: counted },
    firstDrivers: counted,
  };
}

/** Replaces each placeholder, such as {title}, with the value of that name. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** A waiting time such as 59:05. The page's script calls this too. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
