/** What all parts share: measuring in turns, the median with its spread, and the row of a report. */

/** A value a round, in short. */
export interface Figure {
  median: number;
  least: number;
  most: number;
}

/** One thing measured beside another. */
export interface Row {
  name: string;
  beside: string;
  /** What was measured of both, in `unit`; without, the note says why there is nothing. */
  measured?: { unit: string; ours: Figure; theirs: Figure; ratio: Figure; isCost: boolean };
  /** Whether it stands in the first table too. */
  headline?: boolean;
  note?: string | undefined;
}

/** How many users there are, and how that is written. */
export interface Community {
  size: string;
  users: number;
}

/** A part of the benchmarks: gives its rows as it has them. */
export type Part = (community: Community) => AsyncGenerator<Row>;

interface Comparison extends Omit<Row, "measured"> {
  unit: string;
  /**
   * What the ratio says: of rates and of times, how many times as good ours is; of a cost, how many
   * of theirs make one of ours, so that less is better.
   */
  as: "rate" | "time" | "cost";
  /** A value a round, of the same rounds. */
  ours: number[];
  theirs: number[];
}

/** The ratio is taken a round, so that what disturbed a round disturbed both its sides. */
export function compare({ unit, as, ours, theirs, ...row }: Comparison): Row {
  const ratio = ours.map((one, round) => {
    const other = theirs[round] ?? Number.NaN;
    return as === "time" ? other / one : one / other;
  });
  const figures = { ours: figureOf(ours), theirs: figureOf(theirs), ratio: figureOf(ratio) };
  return { ...row, measured: { unit, isCost: as === "cost", ...figures } };
}

export const notInstalled = (name: string, beside: string, tool: string): Row => ({
  name,
  beside,
  note: `${tool}: not installed`,
});

export function figureOf(values: number[]): Figure {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

/** Of an even number of values, the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[(sorted.length - 1) >> 1],
    sorted[sorted.length >> 1],
  ];
  return (low + high) / 2;
}

/** The least value that so large a share of them does not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Measures all of them once a round, forth and back, so that a busy machine is busy for each alike. */
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

/** Three digits that count. */
export function format(value: number): string {
  if (!Number.isFinite(value)) return "?";
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}
