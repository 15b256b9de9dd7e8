/** Words without what divides them: everything that is neither a letter nor a digit nor a mark. */
export const DIVIDER = /[^\p{L}\p{N}\p{M}]/u;
const DIVIDERS = new RegExp(`${DIVIDER.source}+`, "gu");

export const wordsIn = (text: string) => text.split(DIVIDERS).filter((word) => word !== "");

export const compactOf = (text: string) => text.replace(DIVIDERS, "");
