/**
 * Blocks of a long posting list: which of the ranks of one block are in it. As one bit each where they
 * are many, else as the distances between them, one byte or two each. Pure.
 */

import { setBit } from "./bits.ts";

/** The ranks of a block. Their bits, as one row of a table, just fit a page of 4096 bytes. */
export const BLOCK_RANKS = 32_256;

const BITS_BYTES = BLOCK_RANKS / 8;

/** Of longer distances no two rows would fit a page: bits take as much then, and no decoding. */
const MAX_DISTANCES_BYTES = BITS_BYTES / 2;

/** A bit for each rank of a block. */
export type Bits = Uint32Array;

// Both are filled for each block: of a million names there are a hundred thousand.
const bits = new Uint8Array(BITS_BYTES);
const distances = new Uint8Array(MAX_DISTANCES_BYTES + 2);

/** The bytes for these ranks, counted from the beginning of the block and ascending. */
export function encodeBlock(offsets: readonly number[]): Uint8Array {
  bits.fill(0);
  let size = 0;
  let last = 0;
  for (let at = 0; at < offsets.length; at++) {
    const offset = offsets[at] ?? 0;
    const distance = offset - last;
    if (size <= MAX_DISTANCES_BYTES) {
      if (distance >= 0x80) distances[size++] = 0x80 | (distance >> 8);
      distances[size++] = distance;
    }
    setBit(bits, offset);
    last = offset;
  }
  return size > MAX_DISTANCES_BYTES ? bits.slice() : distances.slice(0, size);
}

/** What {@link encodeBlock} made of the ranks. `bytes` may be written to afterwards. */
export function decodeBlock(bytes: Uint8Array): Bits {
  if (bytes.length === BITS_BYTES) {
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    return new Uint32Array(buffer, byteOffset, BITS_BYTES / 4);
  }
  const bits = emptyBlock();
  let offset = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    offset += byte < 0x80 ? byte : ((byte & 0x7f) << 8) | (bytes[++at] ?? 0);
    changeBit(bits, offset, true);
  }
  return bits;
}

export function emptyBlock(): Bits {
  return new Uint32Array(BITS_BYTES / 4);
}

export function changeBit(bits: Bits, offset: number, isSet: boolean): void {
  const bit = 1 << (offset & 31);
  const word = bits[offset >> 5] ?? 0;
  bits[offset >> 5] = isSet ? word | bit : word & ~bit;
}

/** Clears what is not in `other` as well. Returns whether anything is left. */
export function intersect(bits: Bits, other: Bits): boolean {
  let left = 0;
  for (let at = 0; at < bits.length; at++) {
    left |= bits[at] = (bits[at] ?? 0) & (other[at] ?? 0);
  }
  return left !== 0;
}

/** The bits that are set, ascending. */
export function* listBits(bits: Bits): Generator<number, void> {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] ?? 0; word !== 0; word &= word - 1) {
      yield 32 * at + 31 - Math.clz32(word & -word);
    }
  }
}
