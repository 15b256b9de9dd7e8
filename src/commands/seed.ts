/** `roadbook seed`: writes an invented dataset of any size, for trying and measuring. */
import { seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { endProgress, showShare } from "./progress.ts";
import { writeLines } from "./write-lines.ts";

/** By default there is one company for each 25 users. */
const USERS_PER_COMPANY = 25;
/** The progress is updated after this many lines. */
const LINES_PER_STEP = 1000;

interface SeedOptions {
  users: number;
  companies?: number | undefined;
  seed: number;
  to?: string | undefined;
  force: boolean;
}

export async function runSeed(options: SeedOptions): Promise<void> {
  const { users, companies = Math.ceil(users / USERS_PER_COMPANY), seed, to, force } = options;
  // A terminal that shows the lines themselves has no room for it.
  const hasProgress = to !== undefined || !process.stdout.isTTY;
  function* linesOf(): Generator<string> {
    let made = 0;
    for (const line of seedDataset({ users, companies, seed })) {
      if (hasProgress && made++ % LINES_PER_STEP === 0) {
        showShare("inventing", made / (users + companies));
      }
      yield JSON.stringify(line);
    }
  }
  await writeLines(withEndLine(linesOf()), { to, force }).finally(endProgress);
}
