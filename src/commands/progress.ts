/** Shows on standard error what a command is doing. */

/** How often to write it if standard error is not a terminal. */
const WRITE_MS = 30_000;
const LOOK_MS = 1000;

/** Shows on a terminal what a command is doing. Elsewhere, writes a line now and then. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY;
  // For long queries. Reading a SQLite file blocks timers, so `show` looks at the clock, too.
  readonly #timer = setInterval(() => this.#writeLine(), LOOK_MS).unref();
  #text = "reading";
  #writtenAtMs = Date.now();

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    clearLine();
    if (this.#isTerminal) process.stderr.write(text);
    this.#writeLine();
  }

  warn(line: string): void {
    clearLine();
    process.stderr.write(`roadbook: ${line}\n${this.#isTerminal ? this.#text : ""}`);
  }

  end(): void {
    clearInterval(this.#timer);
    clearLine();
  }

  #writeLine(): void {
    if (this.#isTerminal || Date.now() - this.#writtenAtMs < WRITE_MS) return;
    this.#writtenAtMs = Date.now();
    process.stderr.write(`roadbook: ${this.#text}\n`);
  }
}

/** Removes what is shown on a terminal. */
export function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
}
