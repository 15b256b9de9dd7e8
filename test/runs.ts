/**
 * How many times to check a property. A run that requires everything, as in CI, checks five times
 * as often.
 */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 5 * few : few);
