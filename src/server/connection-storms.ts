/**
 * Keeps each tick of the event loop short while clients open a connection for every request.
 *
 * The trap: Bun accepts a connection, reads its request and sends the response before it accepts
 * the next connection, all in one tick, for as long as connections are waiting. Clients on other
 * cores that reconnect after each response keep at least one connection waiting at all times, so
 * the tick never ends. Timers, signals and requests on open connections then wait for thousands of
 * responses. libuv removed the same kind of loop (https://github.com/libuv/libuv/pull/3696). Bun
 * offers no way to pause its loop (https://github.com/oven-sh/bun/issues/22016).
 *
 * The cure: a request that arrives late in a long tick is handled in the next tick. The client
 * cannot reconnect before it has received the response, so soon no connection is waiting and the
 * tick ends.
 *
 * The side effect: Bun closes a connection if a second request arrives before it has responded to
 * the first. So only two kinds of requests may be deferred: requests with `Connection: close` and,
 * in a storm, requests on a different connection from the previous request.
 */

/** Once a tick has lasted longer than this, requests with `Connection: close` are deferred. */
const MAX_TICK_MS = 20;

/**
 * The first requests of each tick are counted but not checked, because looking up a client's port
 * is slow.
 */
const UNCHECKED_REQUESTS = 512;

/** A tick is a storm if the requests after the unchecked ones use more connections than this. */
const MAX_CONNECTIONS = 512;

/** A tick of the event loop, starting with its first request. */
interface Tick {
  readonly startMs: number;
  readonly ended: Promise<void>;
  requests: number;
  /** Counts only connections whose requests were checked. */
  connections: number;
  lastPort: number | undefined;
}

/**
 * Returns a function to call with each request and a callback that looks up the client's port. If
 * the request must wait, the function returns a promise that resolves at the end of the tick.
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

/**
 * Counts the request. Returns whether it is part of a storm, which a pipelined request never is.
 */
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
