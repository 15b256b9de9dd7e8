/** Reads the lines of a CSV file, which are not yet its records: a quoted field may go on after a line. */
import { readFileBytes } from "../files/input.ts";
import { findForeign } from "../files/input-kind.ts";
import type { TextLine } from "../files/lines.ts";

export const MAX_RECORD_BYTES = 2 ** 20;

/**
 * Yields the lines of a file in batches. If the first line ends with a CR alone, all lines do;
 * otherwise such a CR is a space. A line that is too long for any record is cut.
 */
export async function* readCsvLines(name: string, path: string): AsyncGenerator<TextLine[]> {
  let rest = "";
  let end: string | undefined;
  let number = 0;
  const toLine = (text: string): TextLine => {
    number++;
    const hasReturn = text.includes("\r");
    return {
      number,
      text: hasReturn ? text.replace(/(?<!\r)\r+$/, "").replaceAll("\r", " ") : text,
    };
  };
  for await (const text of decode(name, readFileBytes(path))) {
    rest += text;
    // Whether a CR is alone shows only what follows it.
    end ??= /\n|\r(?=[^\r\n])/.exec(rest)?.[0].at(-1);
    const lines = end === undefined ? [rest] : rest.split(end);
    rest = lines.pop() ?? "";
    if (rest.length > MAX_RECORD_BYTES) {
      lines.push(rest);
      rest = "";
    }
    yield lines.map(toLine);
  }
  if (rest !== "") yield [toLine(rest)];
}

/** Decodes UTF-8 and drops a BOM. */
async function* decode(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let head: Buffer | undefined;
  try {
    for await (const chunk of bytes) {
      head ??= Buffer.from(chunk.subarray(0, 512));
      yield utf8.decode(chunk, { stream: true });
    }
    yield utf8.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Text in Windows-1252 has no zeros.
    const kind = head?.includes(0) ? findForeign(head.toString("latin1")) : undefined;
    throw new Error(`${name} is ${kind ?? NOT_UTF8}`);
  }
}

/** LibreOffice writes the characters of Windows without being asked. */
export const SAVE_AS_UTF8 =
  "save it as CSV UTF-8 (with soffice: --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76')";
const NOT_UTF8 = `not UTF-8, but probably Windows-1252; ${SAVE_AS_UTF8}`;

/** Whether a line is one such as sep=; which shows Excel the separator. */
export function isSeparator(line: string): boolean {
  return /^sep=.?$/i.test(line);
}
