/** Splits a dataset into lines. */

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
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  /** The unfinished line. Once the line is too long, further bytes are counted but not kept. */
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    if (size <= MAX_LINE_BYTES) parts.push(part);
    size += part.length;
  }

  /** Returns the line, unless it is blank, in a list. The next line begins. */
  function takeLine(): TextLine[] {
    // Joins the parts only once per line, because chunks may be as small as a single byte.
    const [only] = parts;
    const line = parts.length === 1 && only ? only : Buffer.concat(parts);
    parts = [];
    size = 0;

    number++;
    if (line.length > MAX_LINE_BYTES) {
      return [{ number, text: "", problem: `is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB` }];
    }
    try {
      const text = utf8.decode(line);
      return text.trim() === "" ? [] : [{ number, text }];
    } catch {
      const problem = "is not valid UTF-8; convert the file, for example with iconv";
      return [{ number, text: "", problem }];
    }
  }

  for await (const chunk of bytes) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, to));
      lines.push(...takeLine());
      from = to + 1;
    }
    keep(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  const last = takeLine();
  if (last.length > 0) yield last;
}
