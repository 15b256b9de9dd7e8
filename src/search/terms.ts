/**
 * Writes n-grams as terms, as FTS5 stores them, with a gap between their code points. FTS5 gets one text
 * for each name, with a term on each line. This is the text for the name "eva", in which ^ stands for the
 * mark `START` of ngrams.ts, and $ for `END`:
 *
 *     e-v          two code points
 *     v-a
 *     e-v-a        three
 *     ^-e-v        the beginning
 *     ^-e-v-a
 *     $-a-v        the end, backwards
 *     ^-e-v-a-$    all of a name that is an n-gram itself
 */

/**
 * FTS5 collects terms in a hash table. Its hash moves by only three bits from byte to byte, so without
 * gaps, all n-grams of three Latin letters share 2048 values, and indexing takes a fifth longer.
 */
export const GAP = "-";
const GAP_UNIT = GAP.charCodeAt(0);

/** Where FTS5 divides a text into terms. No spelling has a line feed. */
export const SEPARATOR = "\n";
const SEPARATOR_UNIT = SEPARATOR.charCodeAt(0);

export const termOf = (ngram: string) => [...ngram].join(GAP);

export const ngramOf = (term: string) => [...term].filter((_, at) => at % 2 === 0).join("");

/**
 * Writes the terms of names. A name has some forty, and all of them are parts of a few texts. So each text
 * gets its gaps once, in `open`, and each term is a copy of some of its code units. Joining strings instead
 * takes twice as long, which makes an import a tenth slower.
 */
export class TermWriter {
  /** The terms so far, in UTF-16. */
  #bytes = Buffer.alloc(2 ** 12);
  #units = new Uint16Array(this.#bytes.buffer);
  #length = 0;
  /** The code units of the text of which terms are added, with the gaps. */
  readonly #gapped: number[] = [];
  /** Where its code points begin there, and where the last one ends. */
  readonly #starts: number[] = [];
  #points = 0;

  /** Takes the text of which terms are added next. Returns the number of its code points. */
  open(text: string): number {
    let points = 0;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const isSecondHalf = (unit & 0xfc00) === 0xdc00;
      if (isSecondHalf) end--;
      else this.#starts[points++] = end;
      this.#gapped[end++] = unit;
      this.#gapped[end++] = GAP_UNIT;
    }
    this.#starts[points] = end;
    this.#points = points;
    return points;
  }

  /** Adds the code points from one on to another, or to the end of the text, after a mark if given. */
  add(from: number, to: number, mark = ""): void {
    const start = this.#starts[from] ?? 0;
    const end = this.#starts[Math.min(to, this.#points)] ?? 0;
    if (this.#length + end - start + 2 > this.#units.length) this.#makeRoom(end - start + 2);
    const gapped = this.#gapped;
    const units = this.#units;
    let length = this.#length;
    if (mark !== "") {
      units[length++] = mark.charCodeAt(0);
      units[length++] = GAP_UNIT;
    }
    for (let at = start; at < end; at++) units[length++] = gapped[at] ?? 0;
    units[length - 1] = SEPARATOR_UNIT;
    this.#length = length;
  }

  /** Adds all runs of this many code points, each after a mark if given. */
  addRuns(points: number, mark = ""): void {
    for (let end = points; end <= this.#points; end++) this.add(end - points, end, mark);
  }

  /** Adds the last code point and then the one before it, if there is one, after a mark. */
  addEnd(mark: string): void {
    const last = this.#points - 1;
    this.add(last, this.#points, mark);
    if (last === 0) return;
    // The term goes on instead of ending there.
    this.#units[this.#length - 1] = GAP_UNIT;
    this.add(last - 1, last);
  }

  /** Adds a whole text. */
  addText(text: string): void {
    this.add(0, this.open(text));
  }

  /** Returns the text that FTS5 indexes, and begins the next one. */
  finish(): string {
    const text = this.#bytes.toString("utf16le", 0, 2 * this.#length);
    this.#length = 0;
    return text;
  }

  #makeRoom(units: number): void {
    const longer = Buffer.alloc(4 * (this.#length + units));
    longer.set(this.#bytes);
    this.#bytes = longer;
    this.#units = new Uint16Array(longer.buffer);
  }
}
