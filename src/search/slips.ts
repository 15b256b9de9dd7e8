/** Slips of people who type: a letter wrong, missing or too many, or two letters swapped. */

/** Returns how many slips a query may have, because too many names are near a shorter one. */
export function maxSlips(query: string[]): number {
  if (query.length < 4) return 0;
  return query.length < 8 ? 1 : 2;
}

/** Returns the number of slips between two texts, or Infinity if there are more than `most`. */
export function countSlips(a: string[], b: string[], most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  const rest = Math.min(a.length, b.length) - start;
  while (end < rest && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end);
  const y = b.slice(start, b.length - end);
  if (x.length + y.length === 0) return 0;
  // Each slip concerns at most two neighbouring letters.
  if (most === 0 || (most === 1 && x.length + y.length > 4)) return Infinity;

  const counts = [
    countSlips(x.slice(1), y.slice(1), most - 1),
    countSlips(x.slice(1), y, most - 1),
    countSlips(x, y.slice(1), most - 1),
  ];
  const isSwap = x[0] === y[1] && x[1] === y[0];
  if (isSwap) counts.push(countSlips(x.slice(2), y.slice(2), most - 1));
  return 1 + Math.min(...counts);
}
