/**
 * Asks the system what it has yet to send: Bun does not say which connections have a response that
 * their client has yet to read, and which have half a request.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** ESTABLISHED, and CLOSE_WAIT: the client has said all that it will. */
const OPEN_STATES = ["01", "08"];

/**
 * Whether there are bytes to send on open connections of this process at the port; true where the
 * system has no tables that say so (only Linux has). What Bun has buffered for a connection is behind a
 * full queue of the system's, so between two turns of the event loop an empty one shows that nothing
 * is buffered.
 */
export function hasUnsent(port: number): boolean {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = TABLES.flatMap((table) => {
    try {
      return readFileSync(table, "latin1").split("\n").slice(1);
    } catch {
      return [];
    }
  });
  if (rows.length === 0) return true;
  const sockets = rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    const [, local = "", , state = "", queues = ""] = columns;
    const isUnsent =
      local.endsWith(end) && OPEN_STATES.includes(state) && !queues.startsWith("00000000:");
    return isUnsent ? [`socket:[${columns[9]}]`] : [];
  });
  return sockets.length > 0 && listOwnFiles().some((file) => sockets.includes(file));
}

/** What this process has open: another may have connections of the same port. */
function listOwnFiles(): string[] {
  return readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
}
