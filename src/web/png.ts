/**
 * Draws SVG as PNG, in WebAssembly that is loaded with the first page or picture, because some
 * servers show neither. Draws one picture after another and pauses in between, so that a flood of
 * pictures hardly delays other requests and needs the memory of one.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Resvg } from "@resvg/resvg-wasm";
import { Once } from "../domain/once.ts";
import { readAsset } from "./assets.ts";
import { encodePng } from "./encode-png.ts";

type Drawing = InstanceType<typeof Resvg>;
type Box = Pick<NonNullable<ReturnType<Drawing["getBBox"]>>, "x" | "y" | "width" | "height">;

/** After a long tick, a request may wait for two more, and then only this long step delayed it. */
const PAUSE_TICKS = 3;

/** Draws an SVG that leaves no pixel transparent. */
export function drawPng(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  return renderer.parse(svg, async (drawing) => {
    await pause();
    const image = drawing.render();
    const png = encodePng(image);
    image.free();
    return png;
  });
}

/** Returns the box around all that is visible in the SVG. Undefined if nothing is. */
export function findBox(svg: string): Promise<Box | undefined> {
  return renderer.parse(svg, (drawing) => {
    const box = drawing.getBBox();
    return box && { x: box.x, y: box.y, width: box.width, height: box.height };
  });
}

/** Whether WebAssembly is loaded, or is about to be. */
export const isLoaded = () => renderer.loading.hasBegun;

class Renderer {
  readonly loading = new Once(load);
  /** Settles when the last picture that was asked for is drawn. */
  #last: Promise<unknown> = Promise.resolve();

  /** Calls `use` with the drawing when all that were asked for before are done. */
  parse<T>(svg: string, use: (drawing: Drawing) => T | Promise<T>): Promise<T> {
    const used = this.#last.then(async () => {
      const parse = await this.loading.get();
      await pause();
      const drawing = parse(svg);
      try {
        return await use(drawing);
      } finally {
        // The garbage collector does not count the memory of WebAssembly.
        drawing.free();
      }
    });

    this.#last = used.catch(() => {});
    return used;
  }
}

/** One for the process, because there is one WebAssembly module. */
const renderer = new Renderer();

/** The first pictures take 20 ms for each step, and others at most 1 ms. */
async function pause(): Promise<void> {
  for (let tick = 0; tick < PAUSE_TICKS; tick++) await nextTick();
}

async function load() {
  const [wasm, font] = await Promise.all([
    readAsset("resvg.wasm.asset"),
    readAsset("font.ttf.asset"),
  ]);
  const { initWasm, Resvg } = await import("@resvg/resvg-wasm");
  await initWasm(wasm);
  return (svg: string) => new Resvg(svg, { font: { fontBuffers: [font] } });
}
