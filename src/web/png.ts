/** Draws and reads PNG pictures (ISO/IEC 15948). */
import zlib from "node:zlib";

/** Whether a shape covers this point of a 64×64 view box. */
export type Covers = (x: number, y: number) => boolean;

export type Rgb = readonly number[];

export const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const SIZE = 256;
/** The number of samples per pixel in each direction. A pixel's shade is how many are covered. */
const SAMPLES = 4;

/** The shade of each pixel of a shape, which is slow to compute. */
const sampled = new Map<Covers, Uint8Array>();

/** Draws a shape in two colours, 256 pixels wide and high. */
export function drawPng(covers: Covers, from: Rgb, to: Rgb): Uint8Array<ArrayBuffer> {
  const pixels = sampled.get(covers) ?? sample(covers);
  sampled.set(covers, pixels);
  const palette = Array.from({ length: SAMPLES ** 2 + 1 }, (_, shade) =>
    mix(from, to, shade / SAMPLES ** 2),
  );
  return encodePng(pixels, SIZE, palette);
}

export function mix(from: Rgb, to: Rgb, share: number): number[] {
  return from.map((value, at) => Math.round(value + ((to[at] ?? 0) - value) * share));
}

function sample(covers: Covers): Uint8Array {
  const pixels = new Uint8Array(SIZE * SIZE);
  const scale = 64 / (SIZE * SAMPLES);
  for (let y = 0; y < SIZE * SAMPLES; y++) {
    for (let x = 0; x < SIZE * SAMPLES; x++) {
      const at = Math.floor(y / SAMPLES) * SIZE + Math.floor(x / SAMPLES);
      if (covers((x + 0.5) * scale, (y + 0.5) * scale)) pixels[at] = (pixels[at] ?? 0) + 1;
    }
  }
  return pixels;
}

/** Each pixel is one byte, an index in the palette; without a palette, it is three: RGB. */
export function encodePng(pixels: Uint8Array, width: number, palette?: Rgb[]) {
  const stride = width * (palette ? 1 : 3);
  const height = pixels.length / stride;
  // Each row begins with its filter type, which is 0 (none).
  const rows = new Uint8Array(height * (stride + 1));
  for (let y = 0; y < height; y++)
    rows.set(pixels.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, palette ? 3 : 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const colours = palette ? [chunk("PLTE", palette.flat())] : [];
  const image = chunk("IDAT", zlib.deflateSync(rows));
  return Buffer.concat([PNG_START, chunk("IHDR", header), ...colours, image, chunk("IEND", [])]);
}

function chunk(type: string, data: Uint8Array | number[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(data)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The number of bytes per pixel by colour type: grey, RGB, palette, grey and RGB with alpha. */
const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export type Picture = NonNullable<ReturnType<typeof decodePng>>;

/** Undefined for a damaged picture, and for one that is interlaced, large or not of 8 bits. */
export function decodePng(bytes: Uint8Array) {
  const file = Buffer.from(bytes);
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = PNG_START.length; at + 12 <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    chunks.push({
      type: file.toString("latin1", at + 4, at + 8),
      data: file.subarray(at + 8, end),
    });
    at = end + 4;
  }
  const all = (type: string) =>
    Buffer.concat(chunks.filter((chunk) => chunk.type === type).map(({ data }) => data));
  const [header, colours, alphas] = [all("IHDR"), all("PLTE"), all("tRNS")];
  const bytesPerPixel = channels[header[9] ?? -1];
  if (header.length !== 13 || !bytesPerPixel || header[8] !== 8 || header[12] !== 0)
    return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (width * height === 0 || width * height > 2 ** 20) return undefined;
  const rows = inflate(all("IDAT"), height * (width * bytesPerPixel + 1));
  if (!rows) return undefined;
  unfilter(rows, width * bytesPerPixel, bytesPerPixel);
  /** The colour of a pixel, and its opacity from 0 to 1. */
  const pixelAt = (x: number, y: number): [Rgb, number] => {
    const at = y * (width * bytesPerPixel + 1) + 1 + x * bytesPerPixel;
    const [first = 0, second = 255, third = 0, alpha = 255] = rows.subarray(at, at + bytesPerPixel);
    if (header[9] === 3)
      return [
        colours.subarray(3 * first, 3 * first + 3).toJSON().data,
        (alphas[first] ?? 255) / 255,
      ];
    if (bytesPerPixel < 3) return [[first, first, first], second / 255];
    return [[first, second, third], alpha / 255];
  };
  return { width, height, pixelAt };
}

function inflate(data: Buffer, bytes: number): Buffer | undefined {
  try {
    const rows = zlib.inflateSync(data, { maxOutputLength: bytes });
    return rows.length === bytes ? rows : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the differences between neighbouring bytes, in place, by the bytes themselves. */
function unfilter(rows: Buffer, stride: number, bytesPerPixel: number): void {
  for (let start = 0; start < rows.length; start += stride + 1) {
    const filter = rows[start];
    for (let x = 1; x <= stride; x++) {
      const at = start + x;
      const left = x > bytesPerPixel ? (rows[at - bytesPerPixel] ?? 0) : 0;
      const up = start > 0 ? (rows[at - stride - 1] ?? 0) : 0;
      const corner =
        x > bytesPerPixel && start > 0 ? (rows[at - stride - 1 - bytesPerPixel] ?? 0) : 0;
      let predicted = 0;
      if (filter === 1) predicted = left;
      else if (filter === 2) predicted = up;
      else if (filter === 3) predicted = (left + up) >> 1;
      else if (filter === 4) predicted = nearest(left + up - corner, left, up, corner);
      rows[at] = (rows[at] ?? 0) + predicted;
    }
  }
}

/** The Paeth predictor: the first of the bytes that are closest to `target`. */
function nearest(target: number, left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(target - left), Math.abs(target - up), Math.abs(target - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
