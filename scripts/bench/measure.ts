/** Helpers for all benches: interleaved rounds, processor time, memory, statistics and tables. */
import { readFileSync } from "node:fs";
import { arch, cpus, release, totalmem } from "node:os";
import { root, run } from "../../test/support.ts";

export interface Options {
  size: string;
  /** The number of users that `size` stands for. */
  users: number;
  /** Run one short round of everything, to check that the bench works. */
  isQuick: boolean;
  hours: number;
  /** The path of another executable, such as that of the release before, to measure beside. */
  beside: string | undefined;
}

/** Returns the middle value, or the mean of the two middle values. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[(sorted.length - 1) >> 1],
    sorted[sorted.length >> 1],
  ];
  return (low + high) / 2;
}

/** Returns the smallest value with at least `share` of all values at or below it (nearest rank). */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Fits a straight line by least squares. `error` is the standard error of its slope. */
export function fitLine(points: [x: number, y: number][]) {
  const meanOf = (values: number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = meanOf(points.map(([x]) => x));
  const mean = meanOf(points.map(([, y]) => y));
  const spread = meanOf(points.map(([x]) => (x - middle) ** 2));
  const slope = meanOf(points.map(([x, y]) => (x - middle) * (y - mean))) / spread;
  const squares = meanOf(points.map(([x, y]) => (y - mean - slope * (x - middle)) ** 2));
  return { mean, slope, error: Math.sqrt(squares / spread / (points.length - 2)) };
}

/**
 * Measures every subject once per round and reverses the order each round, so that other load on
 * the machine affects all subjects equally. Returns a function that looks up a subject's values.
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

export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Returns the milliseconds of processor time that some work takes. */
export function cpuOf(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Returns the processor time of all threads of a process. Linux counts hundredths of a second. */
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
  if (values.length === 0) return "";
  const min = format(Math.min(...values));
  const max = format(Math.max(...values));
  return values.length > 1 ? `${format(median(values))} (${min}–${max})` : format(median(values));
}

/** Returns a Markdown table. A column whose title ends in a colon is right-aligned. */
export function tableOf(head: string[], rows: string[][]): string {
  const titles = head.map((title) => title.replace(/:$/, ""));
  const rule = head.map((title) => (title.endsWith(":") ? "--:" : "---"));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Describes the machine, software and commit that produced the figures. */
export async function describeRun(): Promise<string> {
  const git = await run(["git", "describe", "--always", "--dirty"], { cwd: root });
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()} ${arch()}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const software = `Linux ${release()}, Bun ${Bun.version}`;
  return `${machine}, ${memory}, ${software}, commit ${git.stdout.trim()}`;
}
