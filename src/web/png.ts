/** Draws shapes in two colours as PNG (ISO/IEC 15948), 256 pixels wide and high. */
import zlib from "node:zlib";

/** Whether a shape covers this point of a 64×64 view box. */
export type Covers = (x: number, y: number) => boolean;

export const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const SIZE = 256;
/** The number of samples per pixel in each direction. A pixel's shade is how many are covered. */
const SAMPLES = 4;

/** The compressed pixels of each shape, which are slow to compute. */
const packed = new Map<Covers, Uint8Array>();

export function drawPng(covers: Covers, from: number[], to: number[]): Uint8Array<ArrayBuffer> {
  const pixels = packed.get(covers) ?? packPixels(covers);
  packed.set(covers, pixels);
  const palette = Array.from({ length: SAMPLES ** 2 + 1 }, (_, shade) =>
    from.map((value, at) => Math.round(value + (((to[at] ?? 0) - value) * shade) / SAMPLES ** 2)),
  );
  // 256×256 pixels of 8 bits, which are indexes in the palette.
  const header = [0, 0, 1, 0, 0, 0, 1, 0, 8, 3, 0, 0, 0];
  const chunks = [chunk("IHDR", header), chunk("PLTE", palette.flat()), chunk("IDAT", pixels)];
  return Buffer.concat([PNG_START, ...chunks, chunk("IEND", [])]);
}

function packPixels(covers: Covers): Uint8Array {
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

function chunk(type: string, data: Uint8Array | number[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(data)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([length, body, sum]);
}
