/**
 * Blocks of a long posting list: which of the ranks of one block are in it. As one bit each where they
 * are many, else as the distances between them, one byte or two each. Pure.
 */
import { type Bits, setBit } from "./bits.ts";

/** The ranks of a block. Their bits, as one row of a table, just fit a page of 4096 bytes. */
export const BLOCK_RANKS = 32_256;

/** The bytes of a block at most. */
export const BITS_BYTES = BLOCK_RANKS / 8;

/** Of longer distances no two rows would fit a page: bits take as much then, and no decoding. */
const MAX_DISTANCES_BYTES = BITS_BYTES / 2;

// Both are filled for each block: of a million names there are a hundred thousand.
const bits = emptyBlock();
const distances = new Uint8Array(MAX_DISTANCES_BYTES + 2);

/** The bytes for these ranks of one block, ascending: those between two places of an array. */
export function encodeBlock(ranks: Uint32Array, from = 0, to = ranks.length): Uint8Array {
  bits.fill(0);
  let size = 0;
  let last = 0;
  for (let at = from; at < to; at++) {
    const offset = (ranks[at] ?? 0) % BLOCK_RANKS;
    const distance = offset - last;
    if (size <= MAX_DISTANCES_BYTES) {
      if (distance >= 0x80) distances[size++] = 0x80 | (distance >> 8);
      distances[size++] = distance;
    }
    setBit(bits, offset);
    last = offset;
  }
  return size > MAX_DISTANCES_BYTES
    ? new Uint8Array(bits.buffer.slice())
    : distances.slice(0, size);
}

/** What {@link encodeBlock} made of the ranks: a bit for each of the block. `bytes` may be written to afterwards. */
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
    setBit(bits, offset);
  }
  return bits;
}

export function emptyBlock() {
  return new Uint32Array(BITS_BYTES / 4);
}
