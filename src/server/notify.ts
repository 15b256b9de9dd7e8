/** Tells systemd that the server is ready, which a unit with `Type=notify` waits for. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { reasonOf } from "../files/errors.ts";

/**
 * Neither Bun nor Node.js can write to systemd's socket, which takes datagrams, so systemd's own
 * program does. Resolves to a problem, or to undefined.
 */
export async function notifyReady(): Promise<string | undefined> {
  const child = spawn("systemd-notify", ["--ready"], { stdio: "ignore" });
  try {
    const [code] = await once(child, "exit");
    return code === 0 ? undefined : `systemd-notify ended with ${code}`;
  } catch (error) {
    return reasonOf(error);
  }
}
