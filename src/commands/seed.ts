/** `roadbook seed`: writes an invented dataset of any size, for trying and measuring. */
import { seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { writeLines } from "./output.ts";
import { endProgress, showShare } from "./progress.ts";

/** The default: one company for as many users. */
const USERS_PER_COMPANY = 25;
/** The progress is looked at after so many lines. */
const LINES_PER_STEP = 1000;

interface SeedOptions {
  users: number;
  companies?: number | undefined;
  seed: number;
  to?: string | undefined;
}

export async function runSeed(options: SeedOptions): Promise<void> {
  const { users, companies = Math.ceil(users / USERS_PER_COMPANY), seed, to } = options;
  // On a terminal that shows the lines themselves there is no place for it.
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
  await writeLines(withEndLine(linesOf()), to).finally(endProgress);
}
