/** Shows a command's progress on one line of standard error, if standard error is a terminal. */

let shown = "";

/** Replaces the line. Empty text clears it. */
export function showProgress(text: string): void {
  if (!process.stderr.isTTY || text === shown) return;
  process.stderr.write(`\r\u001b[K${text}`);
  shown = text;
}

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  return `${Math.floor(100 * Math.min(1, share))} %`;
}
