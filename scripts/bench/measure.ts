/** Helpers for all benches: interleaved rounds, processor time and memory, statistics, tables. */
import { readFileSync } from "node:fs";
import { arch, cpus, release, totalmem } from "node:os";
import { root, run } from "../../test/support.ts";

/** The command line of a bench. */
export interface Options {
  size: string;
  /** The number of users that `size` stands for. */
  users: number;
  seed: number;
  /** Run one short round of everything, to check that the bench works. */
  isQuick: boolean;
}

/** The middle value, or the mean of the middle two. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[(sorted.length - 1) >> 1],
    sorted[sorted.length >> 1],
  ];
  return (low + high) / 2;
}

/** The smallest value that is at least as large as `share` of the values (nearest rank). */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Measures every subject once per round and reverses the order each round, so that other load on
 * the machine affects all subjects equally. Returns a lookup of each subject's values, by round.
 */
export async function alternate<Subject, Value>(
  rounds: number,
  subjects: Record<string, Subject>,
  measure: (subject: Subject) => Value | Promise<Value>,
): Promise<(name: string) => Value[]> {
  const values: Record<string, Value[]> = {};
  for (let round = 0; round < rounds; round++) {
    const order = Object.entries(subjects);
    for (const [name, subject] of round % 2 ? order.reverse() : order) {
      values[name] ??= [];
      values[name].push(await measure(subject));
    }
  }
  return (name) => values[name] ?? [];
}

/** Returns how many milliseconds `work` takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * The memory of a process: resident at its peak (VmHWM), resident now (VmRSS), or resident now
 * without mapped files (RssAnon). NaN for a process that has just exited.
 */
export function megabytesOf(pid: number, key: "VmHWM" | "VmRSS" | "RssAnon"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1000;
}

/** The processor time of all threads of a process. Linux counts it in hundredths of a second. */
export function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) / 100;
}

/** Formats a number with three significant digits. */
export function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** Formats the median of the rounds, followed by their minimum and maximum. */
export function formatRounds(values: number[]): string {
  const [min, max] = [Math.min(...values), Math.max(...values)].map(format);
  return values.length > 1 ? `${format(median(values))} (${min}–${max})` : format(median(values));
}

/** A Markdown table. A column whose title ends in a colon is right-aligned. */
export function tableOf(head: string[], rows: string[][]): string {
  const titles = head.map((title) => title.replace(/:$/, ""));
  const rule = head.map((title) => (title.endsWith(":") ? "--:" : "---"));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The machine, the software and the commit that the figures belong to. */
export async function describeRun(): Promise<string> {
  const git = await run(["git", "describe", "--always", "--dirty"], { cwd: root });
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()} ${arch()}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const software = `Linux ${release()}, Bun ${Bun.version}`;
  return `${machine}, ${memory}, ${software}, commit ${git.stdout.trim()}`;
}
