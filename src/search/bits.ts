/**
 * Bitmaps with one bit per integer. A block of a long posting list is stored as a bitmap or, if it
 * has few document ids, as the distances between them, in one or two bytes each.
 */

export type Bits = Uint32Array;

/** The number of document ids per block. A row with a block's bitmap just fits a 4096-byte page. */
export const BLOCK_DOCS = 32_256;

const BITMAP_BYTES = BLOCK_DOCS / 8;

/**
 * Two larger blocks would not fit on one page, so a bitmap takes no more space, and it needs no
 * decoding.
 */
const MAX_DISTANCES_BYTES = BITMAP_BYTES / 2;

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

/** Encodes ascending document ids that are all of the same block. */
export function encodeBlock(docIds: Uint32Array): Uint8Array {
  const bitmap = createBitmap();
  const distances = new Uint8Array(MAX_DISTANCES_BYTES + 2);
  let size = 0;
  let last = 0;
  for (let at = 0; at < docIds.length; at++) {
    const offset = (docIds[at] ?? 0) % BLOCK_DOCS;
    const distance = offset - last;
    if (size <= MAX_DISTANCES_BYTES) {
      if (distance >= 0x80) distances[size++] = 0x80 | (distance >> 8);
      distances[size++] = distance;
    }
    setBit(bitmap, offset);
    last = offset;
  }
  return size > MAX_DISTANCES_BYTES ? new Uint8Array(bitmap.buffer) : distances.slice(0, size);
}

/** Returns a block's bitmap. It may share memory with `bytes`, so do not use `bytes` afterwards. */
export function decodeBlock(bytes: Uint8Array): Bits {
  if (bytes.length === BITMAP_BYTES) {
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    return new Uint32Array(buffer, byteOffset, BITMAP_BYTES / 4);
  }
  const bitmap = createBitmap();
  let offset = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    offset += byte < 0x80 ? byte : ((byte & 0x7f) << 8) | (bytes[++at] ?? 0);
    setBit(bitmap, offset);
  }
  return bitmap;
}

export function createBitmap() {
  return new Uint32Array(BITMAP_BYTES / 4);
}
