/** The library for programs that are Elysia apps: as library.ts has it, with the type of `app`. */
import "./node-version.ts";

export type { App } from "./http/app.ts";
export { createRoadbook } from "./roadbook.ts";
