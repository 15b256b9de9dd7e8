/** Shows a command's progress on one line of standard error, if standard error is a terminal. */

const CELLS = 30;
let shown = "";

/** Shows how much of a step is done, from 0 to 1. Larger values count as 1. */
export function showShare(step: string, share: number): void {
  const done = Math.min(1, share);
  const cells = Math.floor(done * CELLS);
  put(`${step} ${"█".repeat(cells)}${"░".repeat(CELLS - cells)} ${Math.floor(100 * done)} %`);
}

/** Shows how many bytes a step has processed, for input of unknown length. */
export function showBytes(step: string, bytes: number): void {
  put(`${step} ${(bytes / 1e6).toFixed(1)} MB`);
}

/** Returns a function that shows how many rows of a file have been read, and how fast. */
export function createRowProgress(): (file: string, rows: number) => void {
  let [current, startMs] = ["", 0];
  return (file, rows) => {
    if (file !== current) [current, startMs] = [file, performance.now()];
    const rate = Math.round((1000 * rows) / Math.max(1, performance.now() - startMs));
    put(`reading ${file}: ${format(rows)} rows, ${format(rate)} per second`);
  };
}

/** Shows a step whose length is unknown. */
export function showStep(step: string): void {
  put(step);
}

/** Clears the progress line. */
export function endProgress(): void {
  put("");
}

const format = (count: number) => count.toLocaleString("en");

function put(text: string): void {
  if (!process.stderr.isTTY || text === shown) return;
  process.stderr.write(`\r\u001b[K${text}`);
  shown = text;
}
