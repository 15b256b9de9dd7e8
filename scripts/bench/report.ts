/** Owns how the rows of the parts read: as lines while they come, and as the page RESULTS.md. */
import { arch, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { root, run } from "../../test/support.ts";
import { type Figure, format, type Row } from "./measure.ts";

/** What one part gave. */
export interface Section {
  name: string;
  /** The command that gives it again. */
  command: string;
  about: string;
  rows: Row[];
}

const page = join(import.meta.dir, "RESULTS.md");

const spreadOf = ({ least, most }: Figure) => `${format(least)} to ${format(most)}`;

/** For the terminal. */
export function lineOf({ name, beside, measured, note }: Row): string {
  if (!measured) return `${name} beside ${beside}: ${note}`;
  const { ratio, ours, theirs, unit } = measured;
  const figures = `${format(ours.median)} beside ${format(theirs.median)} ${unit} of ${beside}`;
  return `${name}: ${format(ratio.median)} (${spreadOf(ratio)}), ${figures}${note ? `; ${note}` : ""}`;
}

/** In Markdown; a column whose title ends in a colon stands to the right. */
export function tableOf(head: string[], rows: string[][]): string {
  const titles = head.map((title) => title.replace(/:$/, ""));
  const rule = head.map((title) => (title.endsWith(":") ? "--:" : "---"));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function formatRows(rows: Row[]): string {
  const lines = rows.map(({ name, beside, measured, note = "" }) => {
    if (!measured) return [name, beside, "", "", "", "", "", note];
    const { ratio, ours, theirs, unit, isCost } = measured;
    const median = `${format(ratio.median)}${isCost ? " ↓" : ""}`;
    const figures = [ours, theirs].map((figure) => format(figure.median));
    return [name, beside, median, spreadOf(ratio), ...figures, unit, note];
  });
  const figures = ["ratio:", "spread:", "ours:", "theirs:"];
  return tableOf(["what", "beside", ...figures, "unit", "note"], lines);
}

/** What `bun run bench growth` wrote there stays. */
export async function writePage(sections: Section[], minutes: number): Promise<void> {
  const headlines = sections.flatMap(({ rows }) => rows.filter(({ headline }) => headline));
  const text = `# What Roadbook's speed is, beside others

\`bun run bench\` writes this page. A **ratio** says how many times as good ours is, so more is better
and 1 is as good; one with a ↓ is a cost, so less is better. Each is the median of rounds in which the
two were measured in turns, and the spread is from the least round to the most. The other figures are
medians too, and this machine's: ${await describeMachine()}.
Measured in ${format(minutes)} minutes at commit ${await commit()}. Sizes are numbers of users.

${formatRows(headlines)}
`;
  const written = sections.map(
    ({ name, command, about, rows }) =>
      `## ${name}\n\n\`${command}\`: ${about}\n\n${formatRows(rows)}\n`,
  );
  const [, growth = ""] = await splitPage();
  await Bun.write(page, [text, ...written, growth].join("\n"));
}

/** The section of the growth, the last; all others stay. */
export async function writeGrowth(table: string): Promise<void> {
  const about =
    "Written by `bun run bench growth`, with how each line grows with the number of names.";
  const [others] = await splitPage();
  await Bun.write(page, `${others}## Growth\n\n${about}\n\n${table}\n`);
}

const splitPage = async () => (await Bun.file(page).text()).split(/^(?=## Growth\n)/m);

async function describeMachine(): Promise<string> {
  const tools = ["node", "wrk", "groonga", "psql"].map(async (tool) => {
    if (!Bun.which(tool)) return `no ${tool}`;
    const { stdout, stderr } = await run([tool, "--version"]);
    return `${tool} ${/\d+\.[\d.]*/.exec(stdout + stderr)?.[0]}`;
  });
  return [
    `${cpus().length} × ${cpus()[0]?.model.trim()} ${arch()}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Linux ${release()}`,
    `Bun ${Bun.version}`,
    ...(await Promise.all(tools)),
  ].join(", ");
}

async function commit(): Promise<string> {
  const git = async (...words: string[]) => (await run(["git", ...words], { cwd: root })).stdout;
  const isClean = (await git("status", "--porcelain", "--untracked-files=no", "--", "src")) === "";
  return `${(await git("rev-parse", "--short", "HEAD")).trim()}${isClean ? "" : ", with changes"}`;
}
