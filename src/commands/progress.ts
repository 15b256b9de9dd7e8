/** How far a command is, on one line of standard error; nothing where that is a pipe or a file. */

const CELLS = 30;

export interface Progress {
  /** Shows that a share (0 to 1) of a step is done. */
  show(step: string, share: number): void;
  /** Shows how many bytes a step has dealt with, when nobody knows how many there are. */
  showBytes(step: string, bytes: number): void;
  /** Wipes the line. */
  end(): void;
}

export function createProgress(terminal = process.stderr): Progress {
  let shown = "";
  function put(text: string): void {
    if (!terminal.isTTY || text === shown) return;
    terminal.write(`\r\u001b[K${text}`);
    shown = text;
  }
  return {
    show(step, share) {
      const cells = Math.floor(share * CELLS);
      const bar = "█".repeat(cells) + "░".repeat(CELLS - cells);
      put(`${step} ${bar} ${Math.floor(100 * share)} %`);
    },
    showBytes: (step, bytes) => put(`${step} ${(bytes / 1e6).toFixed(1)} MB`),
    end: () => put(""),
  };
}
