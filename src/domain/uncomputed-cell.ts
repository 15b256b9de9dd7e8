/** The texts that a spreadsheet shows where it cannot compute a formula, such as #REF!. */

/** Whether a value is such a text. */
export function isUncomputed(value: unknown): boolean {
  return /^\s*#(?:REF!|N\/A|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!)\s*$/.test(String(value));
}

/** Takes the place of such a text where any other text would be valid. */
export class UncomputedCell {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
