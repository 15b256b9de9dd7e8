/** How often a property is tried: five times as often where everything is asked for, as in CI. */
export const runs = (few: number): number => (process.env.ROADBOOK_REQUIRE_ALL ? 5 * few : few);
