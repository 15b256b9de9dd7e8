/** Statistics of rounds, measuring in turns, and the tables that every bench prints. */
import { readFileSync } from "node:fs";
import { arch, cpus, release, totalmem } from "node:os";
import { root, run } from "../../test/support.ts";

/** The options of every bench. */
export interface Options {
  size: string;
  /** How many users the community of that size has. */
  users: number;
  seed: number;
  /** One short round of everything, to see that a bench works. */
  isQuick: boolean;
}

/** For an even number of values, the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[(sorted.length - 1) >> 1],
    sorted[sorted.length >> 1],
  ];
  return (low + high) / 2;
}

/** The least value that at least this share of the values does not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Measures every subject once per round, in alternating order, so that a busy machine disturbs all
 * of them equally. Returns each subject's values by round.
 */
export async function alternate<Subject, Value>(
  rounds: number,
  subjects: Record<string, Subject>,
  measure: (subject: Subject) => Value | Promise<Value>,
): Promise<(name: string) => Value[]> {
  const values: Record<string, Value[]> = {};
  for (let round = 0; round < rounds; round++) {
    const turns = Object.entries(subjects);
    for (const [name, subject] of round % 2 ? turns.reverse() : turns) {
      values[name] ??= [];
      values[name].push(await measure(subject));
    }
  }
  return (name) => values[name] ?? [];
}

/** Milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * A process's memory: its peak (VmHWM), now (VmRSS), and now without mapped files (RssAnon). Not a
 * number when the process has just ended.
 */
export function megabytesOf(pid: number, key: "VmHWM" | "VmRSS" | "RssAnon"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1000;
}

/** Processor time of all threads of a process; Linux gives it in hundredths of a second. */
export function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) / 100;
}

/** Three significant digits. */
export function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** The median, with the least and the greatest of the rounds. */
export function formatRounds(values: number[]): string {
  const [min, max] = [Math.min(...values), Math.max(...values)].map(format);
  return values.length > 1 ? `${format(median(values))} (${min}–${max})` : format(median(values));
}

/** In Markdown; a column whose title ends in a colon is aligned to the right. */
export function tableOf(head: string[], rows: string[][]): string {
  const titles = head.map((title) => title.replace(/:$/, ""));
  const rule = head.map((title) => (title.endsWith(":") ? "--:" : "---"));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The machine and the commit, without which no figure means anything. */
export async function describeRun(): Promise<string> {
  const git = await run(["git", "describe", "--always", "--dirty"], { cwd: root });
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()} ${arch()}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const software = `Linux ${release()}, Bun ${Bun.version}`;
  return `${machine}, ${memory}, ${software}, commit ${git.stdout.trim()}`;
}
