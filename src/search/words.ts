/** Words without what divides them: everything that is neither a letter nor a digit nor a mark. */
const DIVIDERS = /[^\p{L}\p{N}\p{M}]+/gu;

export const wordsIn = (text: string) => text.split(DIVIDERS).filter((word) => word !== "");

export const compactOf = (text: string) => text.replace(DIVIDERS, "");
