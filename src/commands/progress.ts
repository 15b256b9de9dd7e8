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

/** Shows a step whose length is unknown. */
export function showStep(step: string): void {
  put(step);
}

/** Clears the progress line. */
export function endProgress(): void {
  put("");
}

function put(text: string): void {
  if (!process.stderr.isTTY || text === shown) return;
  process.stderr.write(`\r\u001b[K${text}`);
  shown = text;
}
