/**
 * `bun run bench` measures all that has a row in RESULTS.md and writes that page; `bun run bench NAME`
 * measures one part, or one of those that take long or need more, and prints it. Judges nothing.
 */
import { benchAdversary } from "./adversary.ts";
import { benchBadDays } from "./bad-days.ts";
import { benchGrowth, benchTenfold } from "./growth.ts";
import { benchHostile } from "./hostile.ts";
import { benchHttp } from "./http.ts";
import { benchImport } from "./import.ts";
import { benchLatency } from "./latency.ts";
import { benchLimit } from "./limit.ts";
import type { Part, Row } from "./measure.ts";
import { benchPage } from "./page.ts";
import { benchProcesses } from "./processes.ts";
import { lineOf, type Section, writePage } from "./report.ts";
import { benchSearch } from "./search.ts";
import { closeAll, sizeOf, UsageError } from "./server.ts";
import { benchSnapshots } from "./snapshots.ts";
import { benchSoak } from "./soak.ts";
import { benchStart } from "./start.ts";

/** Each with the size it has when none is asked for. */
const parts: Record<string, { measure: Part; size?: string; about: string }> = {
  limit: {
    measure: benchLimit,
    about: "what the rate limit costs; in process.",
  },
  start: {
    measure: benchStart,
    about:
      "from the start of the process to the ready line, every byte of the snapshot compared with its checksum, and the memory it has a second later: all of it, and without mapped files.",
  },
  http: {
    measure: benchHttp,
    about:
      "random users over 16 connections of wrk, as fast as they go. The bare server sends the same bytes and headers; the others send fewer, know no limit, ETag or metrics, and find fewer names.",
  },
  latency: {
    measure: benchLatency,
    about:
      "requests at a fixed rate, whether or not they are answered; a latency counts from the time a request was due.",
  },
  search: {
    measure: benchSearch,
    about:
      "the index of names alone, ten results. The others find less: `LIKE`, the trigrams, PostgreSQL and Groonga no words in another order (as most of the worst are), MiniSearch nothing inside a word. Neither Debian nor npm has Meilisearch or Typesense as a program; Groonga is the search server that Debian has.",
  },
  import: {
    measure: benchImport,
    about: "from a dataset to a snapshot that is verified and on the disk.",
  },
  snapshots: {
    measure: benchSnapshots,
    size: "100k",
    about: "what else is done with a snapshot, by the executable.",
  },
  tenfold: {
    measure: benchTenfold,
    about:
      "what a hundred thousand users cost beside ten thousand: ten times is linear, one is flat. `bun run bench growth` goes on to ten million.",
  },
};

const others: Record<string, (args: string[]) => Promise<void>> = {
  growth: benchGrowth,
  page: benchPage,
  processes: benchProcesses,
  soak: benchSoak,
  hostile: benchHostile,
  adversary: benchAdversary,
  "bad-days": benchBadDays,
};

const usage = `usage: bun run bench [--size 100k|1M|10M]
       bun run bench ${Object.keys(parts).join("|")} [--size 100k|1M|10M]
       bun run bench ${Object.keys(others).join("|")} [...]`;

process.exit(await main(process.argv.slice(2)));

async function main([first = "", ...rest]: string[]): Promise<number> {
  try {
    if (first === "" || first.startsWith("-")) return await measureAll(process.argv.slice(2));
    const other = Object.hasOwn(others, first) ? others[first] : undefined;
    if (other) await other(rest);
    else await measurePart(first, rest);
    return 0;
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (!(error instanceof UsageError) && !code.startsWith("ERR_PARSE_ARGS")) throw error;
    console.error(`${message}\n${usage}`);
    return 2;
  }
}

/** Shows each row as it comes. */
async function measurePart(name: string, args: string[]): Promise<Row[]> {
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (!part) throw new UsageError(`no part is named ${name}`);
  const rows: Row[] = [];
  try {
    for await (const row of part.measure(sizeOf(args, part.size ?? "1M"))) {
      console.log(`${name}  ${lineOf(row)}`);
      rows.push(row);
    }
    return rows;
  } finally {
    await closeAll();
  }
}

/** A part that fails has a row that says so, and the others go on. */
async function measureAll(args: string[]): Promise<number> {
  sizeOf(args, "1M");
  const start = performance.now();
  const sections: Section[] = [];
  let code = 0;
  for (const [name, { about }] of Object.entries(parts)) {
    console.error(`${new Date().toISOString()}  ${name}`);
    const command = ["bun run bench", name, ...args].join(" ");
    const rows = await measurePart(name, args).catch((error: Error): Row[] => {
      console.error(error);
      code = 1;
      return [{ name, beside: "", headline: true, note: `failed: ${error.message}` }];
    });
    sections.push({ name, command, about, rows });
  }
  await writePage(sections, (performance.now() - start) / 60_000);
  return code;
}
