/** `roadbook seed`: writes an invented dataset of any size, for trying and measuring. */
import { integer, required, type Settings } from "../config.ts";
import { seedDataset } from "../seed/seed.ts";
import { writeLines } from "./output.ts";

const MAX_USERS = 100_000_000;
const MAX_COMPANIES = 50_000_000;
/** Companies of a community in which nothing else is asked for: one for as many users. */
const USERS_PER_COMPANY = 25;

export async function runSeed(settings: Settings): Promise<number> {
  required(settings, "users");
  const users = integer(settings, "users", MAX_USERS);
  const companies =
    settings.text("companies") === undefined
      ? Math.ceil(users / USERS_PER_COMPANY)
      : integer(settings, "companies", MAX_COMPANIES);
  const seed = integer(settings, "seed", 0xffff_ffff);
  await writeLines(seedDataset({ users, companies, seed }), settings.text("to"));
  return 0;
}
