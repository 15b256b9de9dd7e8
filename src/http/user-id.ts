/** The rule for a user's id in a URL. The ids of companies have the same form. */

/** 1 to 16 digits without a leading zero. Ids end at 2^53−1, so some matches have no user. */
export const USER_ID = "^[1-9]\\d{0,15}$";

const PATTERN = new RegExp(USER_ID);

export function parseUserId(text: string): number | undefined {
  return PATTERN.test(text) ? Number(text) : undefined;
}
