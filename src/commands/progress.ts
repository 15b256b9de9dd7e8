/** Shows a command's progress on one line of standard error, if standard error is a terminal. */

const CELLS = 30;
let shown = "";

/** Replaces the line. */
export function showStep(text: string): void {
  if (!process.stderr.isTTY || text === shown) return;
  process.stderr.write(`\r\u001b[K${text}`);
  shown = text;
}

/** Clears the line. */
export function endProgress(): void {
  showStep("");
}

/** Shows how much of a step is done, from 0 to 1. Larger values count as 1. */
export function showShare(step: string, share: number): void {
  const done = Math.min(1, share);
  const cells = Math.floor(done * CELLS);
  showStep(`${step} ${"█".repeat(cells)}${"░".repeat(CELLS - cells)} ${Math.floor(100 * done)} %`);
}

/** Returns a function that shows how many rows of a file have been read, and how fast. */
export function createRowProgress(): (file: string, rows: number) => void {
  const format = (count: number) => count.toLocaleString("en");
  let [current, startMs] = ["", 0];
  return (file, rows) => {
    if (file !== current) [current, startMs] = [file, performance.now()];
    const rate = Math.round((1000 * rows) / Math.max(1, performance.now() - startMs));
    showStep(`reading ${file}: ${format(rows)} rows, ${format(rate)} per second`);
  };
}
