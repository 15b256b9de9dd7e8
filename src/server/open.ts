/** Picks the server for the current runtime: Bun's, or Node's, which Deno also has. */
import { type Listener, listen } from "./listen.ts";

/** If listening fails, rejects with an error whose message is for the operator. */
export async function openListener(...given: Parameters<typeof listen>): Promise<Listener> {
  if (process.versions.bun) return listen(...given);
  return (await import("./listen-node.ts")).listenOnNode(...given);
}
