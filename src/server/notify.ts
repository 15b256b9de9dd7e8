/** Tells systemd that the server is ready, which a unit with `Type=notify` waits for. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "pino";
import { reasonOf } from "../files/errors.ts";

/**
 * Neither Bun nor Node.js can write to systemd's socket, which takes datagrams, so systemd's own
 * program does. systemd sets NOTIFY_SOCKET if it waits for this.
 */
export async function notifyReady(log: Logger): Promise<void> {
  const child = spawn("systemd-notify", ["--ready"], { stdio: "ignore" });
  const problem = await once(child, "exit").then(
    ([code]) => code !== 0 && `systemd-notify ended with ${code}`,
    reasonOf,
  );
  const advice = "it will take the start for failed; use Type=exec";
  if (problem) log.warn(`cannot tell systemd that the server is ready: ${problem}; ${advice}`);
}
