/**
 * Keeps each tick of the event loop short while clients open a connection for every request.
 *
 * The trap: Bun accepts a connection, reads its request and sends the response before it accepts
 * the next connection, all in one tick, for as long as connections are waiting. Clients on other
 * cores that reconnect after each response keep one waiting at all times, so the tick never ends.
 * Timers, signals and requests on open connections then wait for thousands of responses. libuv
 * removed the same loop (https://github.com/libuv/libuv/pull/3696). Bun offers no way to pause it
 * (https://github.com/oven-sh/bun/issues/22016).
 *
 * The cure: a request that arrives late in a long tick is handled in the next tick. Its client
 * cannot reconnect before it has the response, so soon no connection is waiting and the tick ends.
 *
 * The side effect: Bun closes a connection if a second request arrives before the first has its
 * response. So only two kinds of requests may be deferred: those with `Connection: close` and, in a
 * storm, those on a different connection than the previous request.
 */

/** A longer tick defers requests with `Connection: close`. */
const MAX_TICK_MS = 20;

/** The first requests of a tick are only counted, as looking up a port is slow. */
const UNCHECKED_REQUESTS = 512;

/** After the unchecked requests, a tick with requests on more connections than this is a storm. */
const MAX_CONNECTIONS = 512;

/** A tick of the event loop, from its first request. */
interface Tick {
  readonly startMs: number;
  readonly ended: Promise<void>;
  requests: number;
  /** Not counting those of the unchecked requests. */
  connections: number;
  lastPort: number | undefined;
}

/**
 * Returns a function that must be called with each request and a lookup of its client's port. If
 * the request must wait, the function returns a promise of the end of the tick.
 */
export function createTickGuard() {
  let tick: Tick | undefined;

  return (request: Request, portOf: () => number | undefined): Promise<void> | undefined => {
    tick ??= startTick(() => {
      tick = undefined;
    });
    const isDeferred = isInStorm(tick, portOf) || (isLong(tick) && isLastOnConnection(request));
    return isDeferred ? tick.ended : undefined;
  };
}

function startTick(onEnd: () => void): Tick {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(() => {
    onEnd();
    resolve();
  });
  return {
    startMs: performance.now(),
    ended: promise,
    requests: 0,
    connections: 0,
    lastPort: undefined,
  };
}

/** Counts the request. True after too many connections, unless the request is pipelined. */
function isInStorm(tick: Tick, portOf: () => number | undefined): boolean {
  tick.requests++;
  if (tick.requests <= UNCHECKED_REQUESTS) return false;
  const port = portOf();
  const isPipelined = port !== undefined && port === tick.lastPort;
  if (isPipelined) return false;
  tick.lastPort = port;
  tick.connections++;
  return tick.connections > MAX_CONNECTIONS;
}

function isLong({ startMs }: Tick): boolean {
  return performance.now() - startMs > MAX_TICK_MS;
}

function isLastOnConnection({ headers }: Request): boolean {
  return headers.get("connection")?.toLowerCase() === "close";
}
