/** `roadbook seed`: writes an invented dataset of any size, for trying and measuring. */
import { seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { writeLines } from "./output.ts";
import { createProgress, type Progress } from "./progress.ts";

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

export async function runSeed({ users, seed, to, ...options }: SeedOptions): Promise<void> {
  const companies = options.companies ?? Math.ceil(users / USERS_PER_COMPANY);
  const lines = withEndLine(textOf(seedDataset({ users, companies, seed })));
  // On a terminal that shows the lines themselves there is no place for it.
  if (to === undefined && process.stdout.isTTY) await writeLines(lines, to);
  else {
    const progress = createProgress();
    await writeLines(show(lines, users + companies, progress), to).finally(progress.end);
  }
}

function* show(lines: Iterable<string>, total: number, progress: Progress): Generator<string> {
  let made = 0;
  for (const line of lines) {
    if (made++ % LINES_PER_STEP === 0) progress.show("inventing", Math.min(1, made / total));
    yield line;
  }
}

function* textOf(lines: Iterable<object>): Generator<string> {
  for (const line of lines) yield JSON.stringify(line);
}
