/** Exports `createRoadbook` with the full type of `app`, for programs that use Elysia. */
import "./server/require-runtime.ts";

export type { App } from "./http/app.ts";
export { createRoadbook } from "./roadbook.ts";
