/** Sets of small integers, stored as bitmaps with one bit per integer. */

export type Bits = Uint32Array;

export function hasBit(bits: Bits, at: number): boolean {
  return ((bits[at >> 5] ?? 0) & (1 << (at & 31))) !== 0;
}

export function setBit(bits: Bits, at: number, isSet = true): void {
  const bit = 1 << (at & 31);
  const word = bits[at >> 5] ?? 0;
  bits[at >> 5] = isSet ? word | bit : word & ~bit;
}

/** Clears every bit in `bits` that is not set in `other`. Returns whether any bit is still set. */
export function intersect(bits: Bits, other: Bits): boolean {
  let left = 0;
  for (let at = 0; at < bits.length; at++) {
    left |= bits[at] = (bits[at] ?? 0) & (other[at] ?? 0);
  }
  return left !== 0;
}

export function* listBits(bits: Bits): Generator<number, void> {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] ?? 0; word !== 0; word &= word - 1) {
      yield 32 * at + 31 - Math.clz32(word & -word);
    }
  }
}
