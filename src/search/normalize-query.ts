/** The bounds of a query, and its spellings. */
import { collapseSpaces, firstCodePoints, hasCodePoints } from "../domain/text.ts";
import { foldDistinct, toLatin } from "./fold.ts";

/** At least 2 code points. The flags make `.` match any code point. */
export const SEARCHABLE = /^.{2}/su;

/** In NFC. A longer query finds nothing. */
const MAX_QUERY_CODE_POINTS = 400;

/** Collapses white space, converts to NFC, and cuts a query that is too long to find anything. */
export function normalizeQuery(text: string): string {
  return compose(collapseSpaces(text));
}

/**
 * Returns the distinct spellings of a query whose white space is collapsed, or none if it is too
 * long or folding drops all of it.
 */
export function spellQuery(query: string): string[] {
  const composed = compose(query);
  if (hasCodePoints(composed, MAX_QUERY_CODE_POINTS + 1)) return [];
  const spellings = foldDistinct([composed, toLatin(composed)]);
  return spellings[0] === "" ? [] : spellings;
}

/**
 * Converts to NFC, which takes quadratic time for a run of marks. So a query that is too long is cut
 * before: a letter composes with up to three marks.
 */
function compose(query: string): string {
  const start = firstCodePoints(query, 4 * MAX_QUERY_CODE_POINTS + 1);
  return firstCodePoints(start.normalize("NFC"), MAX_QUERY_CODE_POINTS + 1);
}
