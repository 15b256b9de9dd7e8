/**
 * Encodes square pictures of a shape in two colours as PNG (ISO/IEC 15948). All functions are pure.
 */
import zlib from "node:zlib";

/** Red, green and blue, from 0 to 255. */
export type Colour = readonly number[];

/** Whether a shape covers this point of a 64×64 view box. */
export type Covers = (x: number, y: number) => boolean;

/** The signature at the start of every PNG file. */
export const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const SIZE = 256;

/** The number of samples per pixel in each direction. */
const SAMPLES = 4;

/** The shade of a pixel that is covered: the second colour. The first colour has shade 0. */
const MAX_SHADE = SAMPLES ** 2;

/** Compresses a shape's pixels, which can then be combined with any two colours. */
export function packPixels(covers: Covers): Uint8Array<ArrayBuffer> {
  // Each row begins with its filter type, which is 0 (none).
  const rows = new Uint8Array(SIZE * (SIZE + 1));
  const scale = 64 / (SIZE * SAMPLES);
  for (let y = 0; y < SIZE * SAMPLES; y++) {
    for (let x = 0; x < SIZE * SAMPLES; x++) {
      const at = Math.floor(y / SAMPLES) * (SIZE + 1) + 1 + Math.floor(x / SAMPLES);
      if (covers((x + 0.5) * scale, (y + 0.5) * scale)) rows[at] = (rows[at] ?? 0) + 1;
    }
  }
  return zlib.deflateSync(rows);
}

export function encodePng(pixels: Uint8Array, from: Colour, to: Colour): Uint8Array<ArrayBuffer> {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(SIZE, 0);
  header.writeUInt32BE(SIZE, 4);
  const palette = Array.from({ length: MAX_SHADE + 1 }, (_, shade) =>
    from.map((value, at) => Math.round(value + (((to[at] ?? 0) - value) * shade) / MAX_SHADE)),
  );
  return Buffer.concat([
    PNG_START,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flat())),
    chunk("IDAT", pixels),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([length, body, sum]);
}
