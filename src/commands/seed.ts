/** `roadbook seed`: writes a made-up dataset of any size, for trials and benchmarks. */
import { seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { endProgress, showShare } from "./progress.ts";
import { writeLines } from "./write-lines.ts";

const USERS_PER_COMPANY = 25;
/** How many lines to write between progress updates. */
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
  // When the lines themselves go to a terminal, progress updates would get mixed in with them.
  const hasProgress = to !== undefined || !process.stdout.isTTY;
  function* linesOf(): Generator<string> {
    let made = 0;
    for (const line of seedDataset({ users, companies, seed })) {
      if (hasProgress && made++ % LINES_PER_STEP === 0) {
        showShare("generating", made / (users + companies));
      }
      yield JSON.stringify(line);
    }
  }
  await writeLines(withEndLine(linesOf()), { to, force }).finally(endProgress);
}
