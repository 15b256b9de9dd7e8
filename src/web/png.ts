/**
 * Encodes square pictures with shades between two colours as PNG (ISO/IEC 15948). All functions are
 * pure.
 */
import zlib from "node:zlib";

export type Colour = readonly [red: number, green: number, blue: number];

/** The signature at the start of every PNG file. */
export const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** The shade of the second colour. The first colour has shade 0. */
export const MAX_SHADE = 16;

/** Compresses a picture's pixels, which can then be combined with any two colours. */
export function packPixels(
  size: number,
  shadeAt: (x: number, y: number) => number,
): Uint8Array<ArrayBuffer> {
  // Each row begins with its filter type, which is 0 (none).
  const rows = new Uint8Array(size * (size + 1));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) rows[y * (size + 1) + 1 + x] = shadeAt(x, y);
  }
  return zlib.deflateSync(rows);
}

export function encodePng(
  size: number,
  pixels: Uint8Array<ArrayBuffer>,
  from: Colour,
  to: Colour,
): Uint8Array<ArrayBuffer> {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
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
