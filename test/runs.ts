/** How many times to check a property. CI requires everything and checks five times as often. */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 5 * few : few);
