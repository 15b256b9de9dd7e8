/** `createRoadbook` for Elysia programs, with the type of `app`. */
import "./node-version.ts";

export type { App } from "./http/app.ts";
export { createRoadbook } from "./roadbook.ts";
