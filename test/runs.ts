/**
 * How many times to check a property. A run that requires everything, as in CI, checks twice as
 * often.
 */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 2 * few : few);
