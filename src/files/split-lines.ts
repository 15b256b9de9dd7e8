/** Splits bytes into lines of text. Keeps one chunk and one unfinished line in memory. */

/** The worst line of this length, a million opening brackets, takes 0.1 s and 100 MB to parse. */
const MAX_LINE_BYTES = 2 ** 20;

export interface TextLine {
  /** Starts at 1 and counts blank lines. */
  number: number;
  text: string;
  /** Why the line cannot be read. Then `text` is empty. */
  problem?: string;
}

/** Yields the non-blank lines of `bytes` in batches. Ignores a byte order mark. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const splitter = new LineSplitter();
  for await (const chunk of bytes) {
    const lines = splitter.split(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last) yield [last];
}

class LineSplitter {
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true });
  #number = 0;
  /** The unfinished line. Once the line is too long, further bytes are counted but not kept. */
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Returns the lines that end in this chunk. */
  split(chunk: Uint8Array): TextLine[] {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, to));
      const line = this.#finish();
      if (line) lines.push(line);
      from = to + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** Returns the last line if it does not end with a line feed. */
  end(): TextLine | undefined {
    return this.#size > 0 ? this.#finish() : undefined;
  }

  #keep(part: Uint8Array): void {
    if (this.#size <= MAX_LINE_BYTES) this.#parts.push(part);
    this.#size += part.length;
  }

  #finish(): TextLine | undefined {
    // Joins the parts only once per line, because chunks may be as small as a single byte.
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;

    this.#number++;
    const number = this.#number;
    if (line.length > MAX_LINE_BYTES) {
      return { number, text: "", problem: `is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB` };
    }

    try {
      const text = this.#utf8.decode(line);
      return text.trim() === "" ? undefined : { number, text };
    } catch {
      const problem = "is not valid UTF-8; convert the file, for example with iconv";
      return { number, text: "", problem };
    }
  }
}
