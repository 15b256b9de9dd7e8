/**
 * Keeps each turn of the event loop short. Bun accepts a connection, reads its request and sends the
 * response before it accepts the next, for as long as there is a next: clients that connect anew for
 * each request, on other cores, kept it from timers, signals and open connections for 9,000 requests.
 */

/** From the first response of a turn on. */
const MAX_TURN_MS = 20;

/** Without an endless turn, a turn has requests of so many connections at most: Bun polls no more. */
const MAX_CONNECTIONS = 1024;

/**
 * What a request has to wait for, or undefined when it can be responded to at once. Who waits cannot
 * connect anew, and so the turn ends.
 *
 * Bun closes a connection on which a request comes behind another that has no response yet. So only
 * those wait that announce that no other comes, and in turns that cannot but be endless, all. Of the
 * first half of the connections of such a turn, only the requests are counted: to ask for a port costs
 * a microsecond.
 */
export function createTurns(): (
  request: Request,
  portOf: () => number | undefined,
) => Promise<void> | undefined {
  let startMs: number | undefined;
  let requests = 0;
  let connections = 0;
  let lastPort: number | undefined;
  let nextTurn: Promise<void> | undefined;

  function isEndless(portOf: () => number | undefined): boolean {
    if (++requests <= MAX_CONNECTIONS / 2) return false;
    const port = portOf();
    const isPipelined = port !== undefined && port === lastPort;
    lastPort = port;
    return !isPipelined && ++connections > MAX_CONNECTIONS / 2;
  }

  return (request, portOf) => {
    const now = performance.now();
    if (startMs === undefined) {
      startMs = now;
      setImmediate(() => {
        startMs = undefined;
        requests = 0;
        connections = 0;
        nextTurn = undefined;
      });
    }
    const isOver = isEndless(portOf) || (now - startMs > MAX_TURN_MS && isLast(request));
    if (!isOver) return undefined;
    nextTurn ??= new Promise((resolve) => setImmediate(resolve));
    return nextTurn;
  };
}

/** Whether the client says that this is its last request on the connection. */
function isLast({ headers }: Request): boolean {
  return headers.get("connection")?.toLowerCase() === "close";
}
