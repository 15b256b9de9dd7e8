/** Draws shapes in two colours as PNG (ISO/IEC 15948). */
import zlib from "node:zlib";

/** Whether a shape covers this point of a view box that is 64 high. */
export type Covers = (x: number, y: number) => boolean;

export const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** `samples` are per pixel, in each direction. A pixel's shade is how many are covered. */
const SQUARE = { width: 256, height: 256, samples: 4 };

/** The compressed pixels of each shape, which are slow to compute. */
const packed = new WeakMap<Covers, Uint8Array>();

export function drawPng(covers: Covers, from: number[], to: number[], size = SQUARE) {
  const pixels = packed.get(covers) ?? packPixels(covers, size);
  packed.set(covers, pixels);
  const shades = size.samples ** 2;
  const palette = Array.from({ length: shades + 1 }, (_, shade) =>
    from.map((value, at) => Math.round(value + (((to[at] ?? 0) - value) * shade) / shades)),
  );
  const [width, height] = [size.width, size.height].map((pixels) => [pixels >> 8, pixels & 255]);
  // Pixels of 8 bits, which are indexes in the palette.
  const header = [0, 0, width, 0, 0, height, 8, 3, 0, 0, 0].flatMap((bytes) => bytes ?? []);
  const chunks = [chunk("IHDR", header), chunk("PLTE", palette.flat()), chunk("IDAT", pixels)];
  return Buffer.concat([PNG_START, ...chunks, chunk("IEND", [])]);
}

function packPixels(covers: Covers, { width, height, samples }: typeof SQUARE): Uint8Array {
  // Each row begins with its filter type, which is 0 (none).
  const rows = new Uint8Array(height * (width + 1));
  const scale = 64 / (height * samples);
  for (let y = 0; y < height * samples; y++) {
    for (let x = 0; x < width * samples; x++) {
      const at = Math.floor(y / samples) * (width + 1) + 1 + Math.floor(x / samples);
      if (covers((x + 0.5) * scale, (y + 0.5) * scale)) rows[at] = (rows[at] ?? 0) + 1;
    }
  }
  return zlib.deflateSync(rows);
}

function chunk(type: string, data: Uint8Array | number[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(data)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([length, body, sum]);
}
