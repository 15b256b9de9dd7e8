/** How properties are checked. */
import fc from "fast-check";

// Bun does not print an error's cause, which is where the failed assertion would be.
fc.configureGlobal({ includeErrorInReport: true });

/** How many times to check a property. A run that requires everything, as in CI, checks twice as often. */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 2 * few : few);
