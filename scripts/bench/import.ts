/**
 * Owns what an import takes, in ordered `LIKE` scans of the names it writes: a measure in which a
 * slower machine is no slower.
 */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support.ts";
import { alternate, type Community, compare, median, type Row, timed } from "./measure.ts";
import { openLike } from "./rivals/sqlite.ts";
import { command, seed } from "./server.ts";

const ROUNDS = 3;
const SCANS = 5;

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
  rmSync(folder, { recursive: true });
}
