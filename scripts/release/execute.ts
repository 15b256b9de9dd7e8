/**
 * `bun scripts/release/execute.ts FOLDER` runs every executable of a release in FOLDER through
 * scripts/release/smoke, and ends with a table of what works where. If the Debian packages for an
 * emulator are missing, it is skipped; with ROADBOOK_REQUIRE_ALL, that is a failure.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Emulator, emulators, isMissing } from "./emulators.ts";
import { fileNameOf, type Platform } from "./platforms.ts";

/** What smoke reports, in its order. */
const steps = ["started", "four endpoints", "import", "apply", "hide", "stopped"];
/** Only ends an emulator that hangs. */
const TIMEOUT_MS = 1_800_000;
/** From Apple's mach-o/loader.h. */
const MACH_O = 0xfeedfacf;
const MACH_O_EXECUTABLE = 2;
const LC_BUILD_VERSION = 0x32;
const smoke = join(import.meta.dir, "smoke");

interface Row {
  name: string;
  /** One for each step, or a single remark. */
  cells: string[];
  isGood: boolean;
}

const folder = resolve(process.argv[2] ?? "dist");
const macs = [checkMac("darwin-x64", 0x01000007), checkMac("darwin-arm64", 0x0100000c)];
const rows = [...(await executeAll()), ...macs];
process.stdout.write(formatTable(rows));
process.exitCode = rows.every(({ isGood }) => isGood) ? 0 : 1;

/** Runs two at a time, because one often waits. */
async function executeAll(): Promise<Row[]> {
  const done = new Map<Emulator, Row>();
  const waiting = emulators.values();
  const work = async () => {
    for (const emulator of waiting) done.set(emulator, await execute(emulator));
  };
  await Promise.all([work(), work()]);
  return emulators.flatMap((emulator) => done.get(emulator) ?? []);
}

async function execute({ name, platform, packages, prepare, finish }: Emulator): Promise<Row> {
  const missing = packages.filter(isMissing);
  if (missing.length > 0) {
    const cells = [`skipped; needs the Debian packages ${missing.join(" ")}`];
    return { name, cells, isGood: !process.env.ROADBOOK_REQUIRE_ALL };
  }
  const startMs = performance.now();
  const temporary = mkdtempSync(join(tmpdir(), "roadbook-execute-"));
  try {
    const words = await prepare(temporary);
    const reported = await runSmoke([...words, join(folder, fileNameOf(platform))], temporary);
    await finish?.(words);
    const cells = steps.map((step) => (reported.includes(`ok: ${step}`) ? "yes" : "NO"));
    const seconds = Math.round((performance.now() - startMs) / 1000);
    process.stdout.write(`${name}: ${cells.includes("NO") ? "failed" : "works"} (${seconds} s)\n`);
    return { name, cells, isGood: !cells.includes("NO") };
  } catch (error) {
    return { name, cells: [`cannot be tried: ${error}`], isGood: false };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Returns the lines that smoke printed, which are shown if it fails. */
async function runSmoke(words: string[], temporary: string): Promise<string[]> {
  const child = Bun.spawn(["bash", "-c", 'exec "$0" "$@" 2>&1', smoke, ...words], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: TIMEOUT_MS,
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) process.stdout.write(`${words.join(" ")}\n${text}`);
  return text.split("\n");
}

/** No emulator runs programs for macOS, so this reads what the loader there would read first. */
function checkMac(platform: Platform, processor: number): Row {
  const header = new DataView(readFileSync(join(folder, fileNameOf(platform))).buffer);
  const at = (offset: number) => header.getUint32(offset, true);
  const isExecutable = at(0) === MACH_O && at(4) === processor && at(12) === MACH_O_EXECUTABLE;
  const isGood = isExecutable && oldestMacOS(at) === 13;
  const remark = isGood ? "checked by its header only" : "has no header for macOS 13 and later";
  return { name: platform, cells: [remark], isGood };
}

/** Returns its major version, which is in one of the commands after the header. */
function oldestMacOS(at: (offset: number) => number): number | undefined {
  let offset = 32;
  for (let left = at(16); left > 0; left--) {
    if (at(offset) === LC_BUILD_VERSION) return at(offset + 12) >> 16;
    offset += at(offset + 4);
  }
  return undefined;
}

function formatTable(rows: readonly Row[]): string {
  const heading = { name: "platform", cells: steps };
  const width = Math.max(...[heading, ...rows].map(({ name }) => name.length));
  const lines = [heading, ...rows].map(({ name, cells }) => {
    const padded = cells.map((cell, i) => cell.padEnd(steps[i]?.length ?? 0));
    return [name.padEnd(width), ...padded].join("  ").trimEnd();
  });
  return `\n${lines.join("\n")}\n`;
}
