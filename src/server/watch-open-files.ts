/** Warns when the server may open no more files, which also keeps it from accepting connections. */
import { open } from "node:fs/promises";
import type { Logger } from "pino";
import { paragraph } from "../domain/text.ts";
import { codeOf } from "../files/errors.ts";

const LIMIT_CHECK_MS = 1000;
const QUIET_MS = 60_000;
const TOO_MANY_FILES = paragraph(
  "the limit of open files is reached, so new connections must wait;",
  "raise it with LimitNOFILE in the unit or ulimit -n",
);

/** Warns once when the limit of open files is reached, and again only after a quiet minute. */
export class OpenFilesWatcher implements Disposable {
  readonly #log: Logger;
  readonly #timer = setInterval(() => this.#look(), LIMIT_CHECK_MS);
  #reachedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      await using _file = await open(process.execPath);
    } catch (error) {
      // Bun reports nothing when it cannot accept a connection.
      if (!["EMFILE", "ENFILE"].includes(codeOf(error))) return;
      const isNew = performance.now() - this.#reachedAtMs > QUIET_MS;
      this.#reachedAtMs = performance.now();
      if (isNew) this.#log.warn(TOO_MANY_FILES);
    }
  }
}
