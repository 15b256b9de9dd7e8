/** Sets of small integers from 0 on, a bit for each. Pure. */

export function hasBit(bits: Uint8Array, at: number): boolean {
  return ((bits[at >> 3] ?? 0) >> (at & 7)) % 2 === 1;
}

export function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
}
