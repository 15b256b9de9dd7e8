/**
 * A small pseudo-random generator on 32-bit integers (mulberry32). The same seed gives the same
 * numbers on every platform. Never use it for secrets.
 */
export class Random {
  #state: number;

  /** Each `index` has its own sequence of numbers. */
  constructor(seed: number, index = 0) {
    this.#state = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b) ^ index;
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const state = this.#state;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Returns a whole number from 0 up to, but not including, `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
