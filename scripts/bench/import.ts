/**
 * Owns what an import takes, in ordered `LIKE` scans of the names it writes: a measure in which a
 * slower machine is no slower. And its memory, with names that are hard to sort.
 */
import { once } from "node:events";
import { createWriteStream, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { createRandom, type Random } from "../../src/community/random.ts";
import { fold } from "../../src/search/fold.ts";
import { temporaryFolder } from "../../test/support.ts";
import { alternate, type Community, compare, median, type Row, timed } from "./measure.ts";
import { openLike } from "./rivals/sqlite.ts";
import { command, seed } from "./server.ts";

const ROUNDS = 3;
const SCANS = 5;

/** The bound in the deploy guide: a fixed part, a part per name, and a part per byte of names. */
const BOUND = { megabytes: 200, perName: 150, perByte: 4 };

/** Names that are hard to sort: all begin with the same byte, share nothing, or share everything. */
const hardNames: Record<string, { count: number; name: (random: Random, at: number) => string }> = {
  "random characters of four bytes": {
    count: 100_000,
    name: ({ below }) =>
      String.fromCodePoint(...Array.from({ length: 200 }, () => 0x20000 + below(40_000))),
  },
  "random letters": {
    count: 200_000,
    name: ({ below }) => String.fromCharCode(...Array.from({ length: 200 }, () => 97 + below(26))),
  },
  "one letter": { count: 100_000, name: (_, at) => "a".repeat(190) + at },
};

export async function* benchImport({ size, users }: Community): AsyncGenerator<Row> {
  const folder = temporaryFolder();
  const [dataset, snapshot] = [join(folder, "dataset"), join(folder, "snapshot")];
  await seed(users, dataset);
  const peaks: number[] = [];
  const measures = {
    async import() {
      const { seconds, peakMegabytes } = await command("import", dataset, "--to", snapshot);
      peaks.push(peakMegabytes);
      return seconds;
    },
    async scan() {
      const { find, close } = openLike(snapshot);
      const times: number[] = [];
      while (times.length < SCANS) times.push(await timed(() => find("an")));
      close();
      return median(times) / 1000;
    },
  };
  const results = await alternate(ROUNDS, measures, (measure) => measure());
  yield compare({
    name: `import of ${size}`,
    beside: "an ordered `LIKE` scan",
    unit: "s",
    as: "cost",
    ours: results("import"),
    theirs: results("scan"),
    headline: true,
  });
  yield compare({
    name: `import of ${size}, peak memory`,
    beside: "the snapshot's size",
    unit: "MB",
    as: "cost",
    ours: peaks,
    theirs: peaks.map(() => statSync(snapshot).size / 1e6),
  });
  for (const [title, { count, name }] of Object.entries(hardNames)) {
    const random = createRandom(1);
    const writer = createWriteStream(dataset);
    let bytes = 0;
    for (let at = 0; at < count; at++) {
      const user = { id: at + 1, public: true, name: name(random, at) };
      bytes += Buffer.byteLength(fold(user.name));
      const line = { type: "user", ...user, created_at: "2020-01-01T00:00:00Z" };
      if (!writer.write(`${JSON.stringify(line)}\n`)) await once(writer, "drain");
    }
    await finished(writer.end());
    const { megabytes, perName, perByte } = BOUND;
    const { peakMegabytes } = await command("import", dataset, "--to", snapshot, "--allow-shrink");
    yield compare({
      name: `import of ${count / 1000}k names of 200 ${title}, peak memory`,
      beside: "the bound in the deploy guide",
      unit: "MB",
      as: "cost",
      ours: [peakMegabytes],
      theirs: [megabytes + (perName * count + perByte * bytes) / 1e6],
    });
  }
  rmSync(folder, { recursive: true });
}
