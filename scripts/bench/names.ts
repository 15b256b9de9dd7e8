/**
 * The community that is measured: made of numbers alone, so that the same size gives the same
 * bytes on every machine. Nothing here keeps the time or touches a file.
 */
import { allLocales, type LocaleDefinition } from "@faker-js/faker";

/** A number in [0, 1), the same sequence for the same seed (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(list: readonly T[], random: Random): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}

/** Of every ten users one is private. */
export const isPublic = (id: number): boolean => id % 10 !== 0;

/** Made of these, names share most of their n-grams: the hard case for an index of n-grams. */
const syllables =
  "an er in on ar el en al or is ra ni ka mi lo ta to ma de ri sa la jo na le ko vi be do ha".split(
    " ",
  );

/** What languages are spoken: the locale and its share, family name first where that is the use. */
const peoples: [definition: LocaleDefinition, share: number, order: "GF" | "FG"][] = [
  [allLocales.pl, 14, "GF"],
  [allLocales.de, 14, "GF"],
  [allLocales.en, 14, "GF"],
  [allLocales.fr, 8, "GF"],
  [allLocales.es, 8, "GF"],
  [allLocales.tr, 6, "GF"],
  [allLocales.cs_CZ, 5, "GF"],
  [allLocales.vi, 3, "GF"],
  [allLocales.ru, 8, "GF"],
  [allLocales.el, 3, "GF"],
  [allLocales.zh_CN, 5, "FG"],
  [allLocales.ja, 4, "FG"],
  [allLocales.ko, 4, "FG"],
];

/** The names of users by id; the name of an id never depends on how many there are. */
export function createNamer(): (id: number) => string {
  const people = peoples.flatMap(([definition, share, order]) => {
    const { first_name, last_name } = definition.person ?? {};
    const entry = { given: allOf(first_name), family: allOf(last_name), order };
    return Array<typeof entry>(share).fill(entry);
  });
  const places = peoples.flatMap(([{ location }]) => location?.city_name ?? []);

  return (id) => {
    const random = createRandom(id);
    const person = pick(people, random);
    const space = person.order === "FG" ? "" : " ";
    const given = common(person.given, random);
    const kind = random();
    if (kind < 0.45) {
      const family = common(person.family, random);
      return person.order === "FG" ? family + given : `${given} ${family}`;
    }
    if (kind < 0.6) return `${given}${space}${Math.floor(random() * 2100)}`;
    if (kind < 0.75) return `${pick(places, random)} ${pick(places, random)}`;
    if (kind < 0.85) return `${pick(["Trucker", "xX_", "Mr.", "TIR-"], random)}${given}`;
    const word = () => Array.from({ length: 2 + random() * 2 }, () => pick(syllables, random));
    return kind < 0.93 ? word().join("") : `${word().join("")} ${word().join("")}`;
  };
}

/** Companies, roles and achievements before the users, as NDJSON in pieces of some kilobytes. */
export function* datasetText(users: number): Generator<string> {
  const nameOf = createNamer();
  const companies = Math.ceil(users / 50);
  let text = "";
  const add = (line: object) => {
    text += `${JSON.stringify(line)}\n`;
  };
  for (let id = 1; id <= 5; id++) add({ type: "role", id, name: `Role ${id}`, hierarchy: id });
  for (let id = 1; id <= 50; id++) {
    add({
      type: "achievement",
      id,
      name: `Badge ${id}`,
      description: "",
      icon: "badge.svg",
      kind: "distance",
      tier: 1,
      points: id,
    });
  }
  for (let id = 1; id <= companies; id++) {
    const name = `${nameOf(id * 7)} ${pick(["Transport", "Logistics", "Spedition"], createRandom(-id))}`;
    add({ type: "company", id, name, member_count: (id * 2_654_435_761) % 5000 });
    if (text.length > 2 ** 16) {
      yield text;
      text = "";
    }
  }
  for (let id = 1; id <= users; id++) {
    add(isPublic(id) ? userLine(id, nameOf(id), companies) : { type: "user", id, public: false });
    if (text.length > 2 ** 16) {
      yield text;
      text = "";
    }
  }
  yield text;
}

function userLine(id: number, name: string, companies: number): object {
  const random = createRandom(-id);
  const day = Date.UTC(2014, 0, 1) + Math.floor(random() * 4000) * 86_400_000;
  const time = (days: number) => new Date(day + days * 86_400_000).toISOString();
  const achievements = Array.from({ length: Math.floor(random() * 3) }, (_, index) => ({
    id: 1 + ((id + index * 17) % 50),
    tier: 1,
    unlocked_at: time(index + 1),
  }));
  return {
    type: "user",
    id,
    public: true,
    name,
    avatar_url: `https://avatars.example.com/${id}.webp`,
    created_at: time(0),
    company:
      random() < 0.6
        ? {
            id: 1 + Math.floor(random() * companies),
            role: pick(["Driver", "Owner", "Manager"], random),
          }
        : null,
    roles: random() < 0.8 ? [1] : [1, 2],
    achievements,
  };
}

/** Common names are common: a few take most of the draws. */
function common(names: readonly string[], random: Random): string {
  return pick(names.slice(0, 1 + Math.floor(names.length * random() ** 2)), random);
}

type NameLists = Partial<Record<"female" | "generic" | "male", string[] | null>>;

function allOf(lists: NameLists | null | undefined): string[] {
  return Object.values(lists ?? {}).flatMap((names) => names ?? []);
}
