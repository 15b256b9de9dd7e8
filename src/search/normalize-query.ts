/** The bounds of a query, and its form before it is spelled. */
import { collapseSpaces, firstCodePoints, hasCodePoints } from "../domain/text.ts";

/** At least 2 code points. The flags make `.` match any code point. */
export const SEARCHABLE = /^.{2}/su;

/** In NFC. A longer query finds nothing. */
export const MAX_QUERY_CODE_POINTS = 400;

/** How many marks a letter composes with at most. */
const MAX_COMPOSED_MARKS = 3;

/** Enough to see at the first step that a run of marks is too long. */
const STEP_CODE_POINTS = 500;

/** Collapses white space, converts to NFC, and cuts a query that is too long to find anything. */
export function normalizeQuery(text: string): string {
  const query = collapseSpaces(text);
  // Converting a run of marks takes quadratic time, so a long query is converted only as far as is
  // needed to see that it is too long.
  for (let count = STEP_CODE_POINTS; ; count += STEP_CODE_POINTS) {
    const start = firstCodePoints(query, count);
    const composed = start.normalize("NFC");
    // The marks that follow can still change the last letter.
    const isTooLong = hasCodePoints(composed, MAX_QUERY_CODE_POINTS + 1 + MAX_COMPOSED_MARKS);
    if (isTooLong || start === query) return firstCodePoints(composed, MAX_QUERY_CODE_POINTS + 1);
  }
}
