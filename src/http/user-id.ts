/** The rule for the ids of users and companies in a URL. */

/** 1 to 16 digits without a leading zero. Ids end at 2^53−1, so some matches have no user. */
export const USER_ID = "^[1-9]\\d{0,15}$";

const PATTERN = new RegExp(USER_ID);

export function parseId(text: string): number | undefined {
  return PATTERN.test(text) ? Number(text) : undefined;
}
