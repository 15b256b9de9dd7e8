/** The log: JSON lines on standard error, or readable ones where that is a terminal. */
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

/**
 * Written at once: what was logged before the process ended is there. What cannot be written, to a
 * full disk or a reader that has gone, is dropped: a service does not end with its log.
 */
export function createLog(level: string): Logger {
  const destination = process.stderr.isTTY
    ? pretty({
        destination: 2,
        sync: true,
        ignore: "pid,hostname",
        singleLine: true,
        translateTime: "SYS:yyyy-mm-dd HH:MM:ss",
      })
    : pino.destination({ fd: 2, sync: true });
  destination.on("error", () => {});
  return pino({ level }, destination);
}
