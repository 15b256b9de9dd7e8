/**
 * A small pseudo-random generator on 32-bit integers (mulberry32). The same seed gives the same
 * numbers on every platform. Never use it for secrets.
 */
export type Random = ReturnType<typeof createRandom>;

/** Each `index` has its own sequence of numbers. */
export function createRandom(seed: number, index = 0) {
  let state = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b) ^ index;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  const below = (n: number) => Math.floor(next() * n);
  const chance = (probability: number) => next() < probability;
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T;
  return { next, below, chance, pick };
}
