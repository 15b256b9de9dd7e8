/** `roadbook seed`: writes an invented dataset of any size, for trying and measuring. */
import { seedDataset } from "../community/community.ts";
import { integer, required, type Settings } from "../config.ts";
import { withEndLine } from "../domain/dataset.ts";
import { writeLines } from "./output.ts";
import { createProgress, type Progress } from "./progress.ts";

const MAX_USERS = 100_000_000;
const MAX_COMPANIES = 50_000_000;
/** Companies of a community in which nothing else is asked for: one for as many users. */
const USERS_PER_COMPANY = 25;
/** The progress is looked at after so many lines. */
const LINES_PER_STEP = 1000;

export async function runSeed(settings: Settings): Promise<number> {
  required(settings, "users");
  const users = integer(settings, "users", MAX_USERS);
  const companies =
    settings.text("companies") === undefined
      ? Math.ceil(users / USERS_PER_COMPANY)
      : integer(settings, "companies", MAX_COMPANIES);
  const seed = integer(settings, "seed", 0xffff_ffff);
  const to = settings.text("to");
  const lines = withEndLine(textOf(seedDataset({ users, companies, seed })));
  // On a terminal that shows the lines themselves there is no place for it.
  if (to === undefined && process.stdout.isTTY) await writeLines(lines, to);
  else {
    const progress = createProgress();
    await writeLines(show(lines, users + companies, progress), to).finally(progress.end);
  }
  return 0;
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
