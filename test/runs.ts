/**
 * How many times to check a property: five times as many in a run that requires everything, as in
 * CI.
 */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 5 * few : few);
