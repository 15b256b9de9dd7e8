/** A number never comes to mean another person, whatever files and maps a command is given. */
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { exported, makeFile, stateOf, user } from "../datasets.ts";
import { runs } from "../runs.ts";
import { temporaryFolder } from "../support.ts";

type Line = Record<string, unknown>;

/** A person's key is an integer, so that a number could also be taken for somebody's id. */
const person = (key: number | string): Line => ({ ...user(1, `Person ${key}`), id: key });
const people = (keys: Iterable<number | string>) => Array.from(keys, person);
const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

/** The keys that are public in a snapshot. */
async function publicIn(target: string): Promise<string[]> {
  const text = await exported(target);
  return Array.from(text.matchAll(/"name":"Person ([^"]+)"/g), ([, key = ""]) => key);
}

/** Files of one site: a map, and a snapshot made with it in which person 107 is hidden. */
async function makeSite() {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const site = { folder, at, target: at("snapshot"), idMap: at("ids"), source: at("all.ndjson") };
  writeFileSync(site.source, readFileSync(makeFile(people(range(101, 9)))));
  await importDataset(site.source, site.target, { idMap: site.idMap });
  copyFileSync(site.idMap, at("older"));
  await importDataset(people(range(101, 12)), site.target, { idMap: site.idMap });
  await hideUsers([107], site.target, { idMap: site.idMap });
  // Imports into other snapshots.
  await importDataset(people(range(200, 30)), at("other"), { idMap: at("older") });
  await importDataset(people(range(300, 30)), at("another"), { idMap: at("foreign") });
  writeFileSync(at("empty"), "");
  await importDataset(site.source, at("plain"));
  await hideUsers([107], at("plain"));
  return site;
}

/** Every refusal is one sentence that ends with what to do, and leaves all files as they are. */
async function expectRefused(writing: () => Promise<unknown>, target: string, reason: string) {
  const before = stateOf(target);
  const error: Error = await writing().then(
    () => new Error("was not refused"),
    (error) => error,
  );
  expect(error.message).toContain(reason);
  expect(error.message).not.toContain("\n");
  expect(stateOf(target)).toEqual(before);
}

describe("a snapshot with an id map is changed only with that map", () => {
  test.each([
    [undefined, "was made with an id map; give that file with --id-map"],
    ["none", "none is not the id map of "],
    ["empty", "empty is not the id map of "],
    ["older", "older is not the id map of "],
    ["foreign", "foreign is not the id map of "],
  ])("not with %s", async (name, reason) => {
    const { target, source, at } = await makeSite();
    const idMap = name && at(name);
    const hidden = makeFile([{ type: "user", id: 107, public: false }]);
    const gone = makeFile([{ type: "user", id: 107, deleted: true }]);
    const words = idMap === undefined ? [] : ["--id-map", idMap];
    for (const command of [
      ["import", source],
      ["import", source, "--skip-invalid"],
      ["import", source, "--dry-run"],
      ["import", source, "--allow-shrink", "--allow-reveal"],
      ["apply", hidden],
      ["apply", gone],
      ["apply", makeFile([])],
      ["hide", "7"],
      ["hide", "107"],
    ]) {
      const run = () => runCommandLine([...command, ...words, "--to", target]);
      await expectRefused(run, target, reason);
    }
    expect(existsSync(at("none"))).toBe(false);
    const options = idMap === undefined ? {} : { idMap };
    const forced = () => importDataset(source, target, { ...options, force: true });
    const cure =
      "import into another --to, hide the users of the last hour there, and move it here";
    await expectRefused(
      forced,
      target,
      `takedowns of the last hour cannot be kept if ids belong to others; wait, or ${cure}`,
    );
    expect(await publicIn(target)).not.toContain("107");
    await importDataset(source, at("begun"), options);
    await hideUsers([107], at("begun"), options);
    expect(await publicIn(at("begun"))).not.toContain("107");
    // An operator who gives up the takedowns can begin again.
    const flags = { force: true, holdMs: 0, allowShrink: true, allowReveal: true };
    await importDataset(source, target, { ...options, ...flags });
    expect(await publicIn(target)).toContain("107");
  });

  test("the newest map works, also after an import into another snapshot", async () => {
    const { target, source, at, idMap } = await makeSite();
    await importDataset(people(range(400, 20)), at("third"), { idMap });
    const { held } = await importDataset(source, target, { idMap });
    expect([held, await publicIn(target)]).toEqual([1, expect.not.arrayContaining(["107"])]);
    await applyChanges([person(500)], target, { idMap });
    await importDataset(source, target, { idMap });
  });

  test("a map that is restored from a backup works with the snapshot of that backup", async () => {
    const { target, source, at, idMap } = await makeSite();
    copyFileSync(idMap, at("ids.backup"));
    copyFileSync(target, at("snapshot.backup"));
    await importDataset(people(range(101, 20)), target, { idMap });
    copyFileSync(at("ids.backup"), idMap);
    await expectRefused(
      () => importDataset(source, target, { idMap }),
      target,
      "ids is not the id map of ",
    );
    copyFileSync(at("snapshot.backup"), target);
    await importDataset(source, target, { idMap });
    expect(await publicIn(target)).not.toContain("107");
  });

  test("an import that ends between the map and the snapshot can be repeated", async () => {
    const { target, at, idMap } = await makeSite();
    copyFileSync(idMap, at("before"));
    const before = stateOf(target);
    const onCommit = () => {
      throw new Error("killed");
    };
    const lines = people(range(101, 14));
    await expect(importDataset(lines, target, { idMap, onCommit })).rejects.toThrow("killed");
    expect(stateOf(target)).toEqual(before);
    expect(readFileSync(idMap).equals(readFileSync(at("before")))).toBe(false);
    for (const map of [at("before"), idMap]) {
      copyFileSync(target, at("copy"));
      await importDataset(lines, at("copy"), { idMap: map });
      expect(await publicIn(at("copy"))).not.toContain("107");
    }
  });
});

test("a snapshot without an id map is not changed with one", async () => {
  const { source, at } = await makeSite();
  const target = at("plain");
  for (const idMap of [at("ids"), at("foreign"), at("empty"), at("none")]) {
    const reason = "was made without an id map; leave out --id-map";
    await expectRefused(() => importDataset(source, target, { idMap }), target, reason);
    await expectRefused(() => applyChanges([person(1)], target, { idMap }), target, reason);
    await expectRefused(() => hideUsers([107], target, { idMap }), target, reason);
  }
  expect(existsSync(at("none"))).toBe(false);
  await importDataset(source, target);
  expect(await publicIn(target)).not.toContain("107");
});

describe("keys that change their form", () => {
  const hidden = (key: string | number) => ({ type: "user", id: key, public: false });
  const upper = (line: Line) => ({ ...line, id: String(line.id).toUpperCase() });
  test.each<[string, (n: number) => string, (line: Line) => Line]>([
    ["7 to 007", (n) => `${n}`, (line) => ({ ...line, id: `00${line.id}` })],
    ["UUIDs to upper case", (n) => `3f2504e0-4f89-41d3-9a0c-${String(n).padStart(12, "0")}`, upper],
  ])("from %s make an import fail", async (_, keyOf, change) => {
    const { at } = await makeSite();
    const target = at("new");
    const idMap = at("new.ids");
    const lines = [
      ...people(range(0, 30).map(keyOf)),
      ...range(30, 20).map((n) => hidden(keyOf(n))),
    ];
    await importDataset(lines, target, { idMap });
    const shown = [...lines.slice(0, 30), ...people(range(30, 20).map(keyOf))].map(change);
    const importing = (options: ImportOptions) => () =>
      importDataset(shown, target, { idMap, ...options });
    const lost = "would lose 50 of its 50 users";
    await expectRefused(importing({}), target, lost);
    const reason = "would publish or lose 20 of its 20 private users";
    await expectRefused(importing({ allowShrink: true }), target, reason);
  });
});

describe("what comes out of a snapshot has numbers, which are not translated again", () => {
  const sources: Record<string, (from: string, to: string) => Promise<string>> = {
    "the snapshot itself": async (from) => from,
    async "an export"(from, to) {
      writeFileSync(to, await exported(from));
      return to;
    },
    async "a compressed export"(from, to) {
      writeFileSync(to, gzipSync(await exported(from)));
      return to;
    },
    async "an export with a byte order mark and a blank line"(from, to) {
      writeFileSync(to, `\ufeff\n${await exported(from)}`);
      return to;
    },
  };
  test.each(Object.entries(sources))("%s", async (_, make) => {
    const { target, at, idMap } = await makeSite();
    const source = await make(target, at("backup.ndjson"));
    const before = await exported(target);
    expect(before).toMatch(/^\{"type":"ids","map":"[0-9a-f]{32}"\}\n/);
    for (const to of [target, at("restored")]) {
      for (const options of [{ idMap }, {}]) {
        await importDataset(source, to, options);
        expect(await exported(to)).toBe(before);
      }
    }
    expect(await hideUsers([108], at("restored"), { idMap })).toMatchObject({
      found: [{ given: 108, wasPublic: true }],
    });
    // The map has to be the one of these numbers, and so has the target's.
    const lacking = (name: string) => () =>
      importDataset(source, at("restored"), { idMap: at(name) });
    for (const name of ["foreign", "older", "none"]) {
      await expectRefused(lacking(name), target, `${name} is not the id map of the dataset; give`);
    }
    const reason = "the numbers in the dataset are not those in ";
    await expectRefused(() => importDataset(source, at("plain")), at("plain"), reason);
    await expectRefused(() => importDataset(source, at("another")), at("another"), reason);
    await expectRefused(
      () => importDataset(source, at("another"), { idMap }),
      at("another"),
      "ids is not the id map of ",
    );
  });

  test("an older export is restored with the map, which shows whose it is", async () => {
    const { target, source, at, idMap } = await makeSite();
    writeFileSync(at("backup.ndjson"), await exported(target));
    await importDataset(people(range(101, 16)), target, { idMap });
    const without = () => importDataset(at("backup.ndjson"), target);
    await expectRefused(without, target, "the numbers in the dataset are not those in ");
    await importDataset(at("backup.ndjson"), target, { idMap });
    // The takedowns that are held may be of keys that the export does not know.
    expect(await publicIn(target)).not.toContain("107");
    await importDataset(source, target, { idMap });
  });

  test("a snapshot that was made without a map stays so", async () => {
    const { at, idMap } = await makeSite();
    const before = await exported(at("plain"));
    for (const to of [at("plain"), at("new")]) {
      await importDataset(at("plain"), to, { idMap });
      expect(await exported(to)).toBe(before);
    }
    const onto = () => importDataset(at("plain"), at("snapshot"), { idMap });
    await expectRefused(onto, at("snapshot"), "the numbers in the dataset are not those in ");
  });

  test("changes can have numbers, too", async () => {
    const { target, idMap, at } = await makeSite();
    const [ids = "", ...lines] = (await exported(target)).split("\n");
    const two = lines.find((line) => line.includes("Person 102")) ?? "";
    const number = JSON.parse(two).id;
    const hide = { type: "user", id: number, public: false };
    await applyChanges([JSON.parse(ids), hide], target);
    await importDataset(people(range(101, 12)), target, { idMap });
    expect(await publicIn(target)).not.toContain("102");
    const foreign = (await exported(at("another"))).split("\n")[0] ?? "";
    const apply = () => applyChanges([JSON.parse(foreign), hide], target);
    await expectRefused(apply, target, "the numbers in the dataset are not those in ");
    const late = () => applyChanges([hide, JSON.parse(ids)], target, { idMap });
    await expectRefused(late, target, 'line 2: with "type":"ids" must be the first line');
    const cut = importDataset([{ type: "ids", map: "0123" }, hide], at("cut"));
    await expect(cut).rejects.toThrow('map: must be the mark of an id map, got "0123"');
  });

  test("a library in memory keeps to the same rules", async () => {
    const { target } = await makeSite();
    const dataset = (await exported(target))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    await using roadbook = await createRoadbook({ dataset });
    const two = dataset.find(({ name }) => name === "Person 102");
    await expect(roadbook.apply([{ type: "user", id: 102, public: false }])).rejects.toThrow(
      "the snapshot was made with an id map; give that file",
    );
    await roadbook.apply([dataset[0], { type: "user", id: two.id, public: false }]);
    const response = await roadbook.fetch(new Request(`http://host.test/users/public/${two.id}`));
    expect(response.status).toBe(403);
  });
});

describe("a property", () => {
  /** The files that a command is given instead of the newest map. */
  const map = fc.constantFrom(
    "newest",
    "newest",
    "newest",
    "newest",
    "newest",
    "none",
    "copy",
    "foreign",
    "missing",
  );
  const target = fc.constantFrom("a", "b");
  const key = fc.integer({ min: 101, max: 106 });
  const keys = fc.shuffledSubarray(range(101, 8), { minLength: 4 });
  const flags = fc.record(
    { force: fc.boolean(), skipInvalid: fc.boolean(), dryRun: fc.boolean() },
    { requiredKeys: [] },
  );
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("import"), target, map, keys, flags }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("hide"), target, map, key }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), target, map, key }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("numbers"), target, map, key }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant("restore"), target, map, from: target, flags }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("upgrade"), target, map, from: target }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constantFrom("copy map", "copy map", "lose map", "older map"),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom("export", "back up", "go back"), target }),
    },
  );
  type Step = { do: string } & Partial<{
    target: string;
    map: string;
    key: number;
    keys: number[];
    from: string;
    flags: ImportOptions;
  }>;

  /** A folder with two snapshots and some maps, and who must not be public in which snapshot. */
  class World {
    readonly #folder = temporaryFolder();
    readonly #held: Record<string, Set<string>> = { a: new Set(), b: new Set() };
    #backup: Record<string, Set<string>> = {};
    done = 0;

    at(name: string): string {
      return join(this.#folder, name);
    }

    async start(): Promise<void> {
      await importDataset(people(range(103, 20)), this.at("elsewhere"), {
        idMap: this.at("foreign"),
      });
    }

    /** Does a step. A refusal is fine. */
    async take(step: Step): Promise<void> {
      const { target = "a", map = "newest", key = 0 } = step;
      const path = this.at(target);
      const names: Record<string, string> = { newest: "ids", missing: `none-${this.done}` };
      const options = map === "none" ? {} : { idMap: this.at(names[map] ?? map) };
      const copy = (from: string, to: string) =>
        existsSync(this.at(from)) && copyFileSync(this.at(from), this.at(to));
      if (step.do === "copy map") return void copy("ids", "copy");
      if (step.do === "lose map") return rmSync(this.at("ids"), { force: true });
      if (step.do === "older map") return void copy("copy", "ids");
      if (step.do === "export" && existsSync(path)) {
        return writeFileSync(this.at(`${target}.ndjson`), await exported(path));
      }
      if (step.do === "back up") {
        copy(target, `${target}.backup`);
        copy("ids", "ids.backup");
        this.#backup[target] = new Set(this.#held[target]);
        return;
      }
      if (step.do === "go back" && this.#backup[target]) {
        copy(`${target}.backup`, target);
        copy("ids.backup", "ids");
        this.#held[target] = new Set(this.#backup[target]);
        return;
      }
      const change = { type: "user", id: key, deleted: true };
      const hide = { type: "user", id: key - 100, public: false };
      const { keys = [], from = "a", flags = {} } = step;
      const writes: Record<string, () => Promise<unknown>> = {
        import: () => importDataset(people(keys), path, { ...options, ...flags }),
        hide: () => hideUsers([key], path, options),
        delete: () => applyChanges([change], path, options),
        restore: () => importDataset(this.at(`${from}.ndjson`), path, { ...options, ...flags }),
        upgrade: () => importDataset(this.at(from), path, options),
        // A change in numbers, which are those of the export of another moment.
        numbers: () => {
          const backup = this.at("a.ndjson");
          const [first = "{}"] = existsSync(backup)
            ? readFileSync(backup, "utf8").split("\n", 1)
            : [];
          return applyChanges([JSON.parse(first), hide], path, options);
        },
      };
      const isDone = await writes[step.do]?.()
        .then(
          () => true,
          () => false,
        )
        .catch(() => false);
      if (!isDone) return;
      this.done++;
      if (step.do === "hide" || step.do === "delete") this.#held[target]?.add(String(key));
    }

    async check(): Promise<void> {
      for (const [name, held] of Object.entries(this.#held)) {
        if (!existsSync(this.at(name))) continue;
        const shown = await publicIn(this.at(name));
        expect(shown.filter((key) => held.has(key))).toEqual([]);
      }
    }
  }

  test("no held user is ever public, whatever maps are lost, copied, foreign or older", async () => {
    let done = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async (steps) => {
        const world = new World();
        await world.start();
        for (const step of steps as Step[]) {
          await world.take(step);
          await world.check();
        }
        done += world.done;
      }),
      { numRuns: runs(40), seed: 53 },
    );
    // Many steps are not refused.
    expect(done).toBeGreaterThan(runs(40) * 3);
  });
});
