/** `serve --data`: imports a dataset or CSV files into a temporary snapshot, again when they change. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { reasonOf } from "../files/errors.ts";
import { isFolder } from "../files/input.ts";
import { makeTemporaryFolder } from "../files/temporary-folder.ts";
import { importDataset } from "../import/import.ts";
import { DatasetError } from "../import/record-errors.ts";
import { listDetails, plural } from "./report.ts";

/** The snapshot lasts as long as the server, so nothing in it has to be guarded. */
const OPTIONS = { allowShrink: true, allowReveal: true, allowRenames: true, holdMs: 0 };

export class ImportedData {
  /** The path of the snapshot. */
  readonly path = join(makeTemporaryFolder().folder, "snapshot");
  readonly #source: string;
  readonly #log: Logger;
  /** Facts about the files, at the last look and at the last import. */
  #seen = "";
  #imported = "";
  #refused: string | undefined;

  private constructor(source: string, log: Logger) {
    this.#source = source;
    this.#log = log;
  }

  static async open(source: string, log: Logger): Promise<ImportedData> {
    const data = new ImportedData(source, log);
    data.#imported = data.#look();
    await data.#import().catch((error) => {
      throw new Error(data.#describe(error));
    });
    return data;
  }

  /** Why the snapshot is older than the data. Anyone can read this. */
  refused(): string | undefined {
    return this.#refused;
  }

  /** Imports data that has changed, once it has stayed the same between two calls. Never rejects. */
  async refresh(): Promise<void> {
    try {
      const seen = this.#look();
      const isComplete = seen === this.#seen;
      this.#seen = seen;
      if (!isComplete || seen === this.#imported) return;

      this.#imported = seen;
      await this.#import();
      this.#refused = undefined;
    } catch (error) {
      const errors = error instanceof DatasetError ? ` (${plural(error.count, "error")})` : "";
      this.#refused = `cannot be imported${errors}`;
      this.#log.error(`${this.#describe(error)}\nserving the data from before`);
    }
  }

  async #import(): Promise<void> {
    const report = await importDataset(this.#source, this.path, OPTIONS);
    for (const line of listDetails(report)) this.#log.info(line);
  }

  /** For the operator. The advice in an error may name flags that `serve` does not have. */
  #describe(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof DatasetError)) return message;
    const advice = `the flags for reading are those of roadbook import ${this.#source} --to FILE`;
    return `${this.#source} cannot be imported; ${advice}\n${message}`;
  }

  /** Returns the same text as long as the files stay the same, or cannot be read. */
  #look(): string {
    const source = this.#source;
    try {
      const files = isFolder(source)
        ? readdirSync(source).map((file) => join(source, file))
        : [source];
      const facts = files.map((file) => {
        const { mtimeMs, size, ino } = statSync(file);
        return [file, mtimeMs, size, ino];
      });
      return JSON.stringify(facts);
    } catch (error) {
      return reasonOf(error);
    }
  }
}
