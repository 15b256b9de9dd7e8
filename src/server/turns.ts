/**
 * Lets clients take turns, by the rules in src/http/README.md. The server reads the requests of many
 * connections in one tick of the event loop, while timers, signals and other clients wait. So once a
 * tick has lasted some milliseconds, further requests are held back for two ticks, and then join the
 * queue of their client.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { FetchHandler, RequestHandler } from "../http/request.ts";
import type { Client } from "../limit/client-address.ts";

const BUDGET_MS = 2;
/** Waiting requests get only a part of a tick, so that others are read soon. */
const WAITING_BUDGET_MS = BUDGET_MS / 2;
/** Further requests of the same client are refused. */
const MAX_WAITING = 200;

interface Waiting extends Pick<Client, "key" | "network"> {
  request: Request;
  /** Makes the response, or refuses. */
  handle(): Response | Promise<Response>;
  resolve(response: Response): void;
  reject(error: unknown): void;
}

/** Returns a handler that calls `handler.fetch`, at once or in a later tick. */
export function takeTurns(handler: RequestHandler): FetchHandler {
  const turns = new Turns();
  let tick = new Tick();
  let isServing = false;

  function takeTurn(request: Request, from: unknown): Response | Promise<Response> {
    // A page may cost more than a tick, so it waits until it is known that its client has stayed.
    // Profiles need not wait for more than one search.
    const quickUrl = isServing ? handler.lookupUrl : handler.apiUrl;
    if (isInTime() && quickUrl.test(request.url)) return handler.fetch(request, from);

    const { key, network } = handler.clientOf(request, from);
    const isRefused = turns.countOf(key) >= MAX_WAITING;
    const handle = () => (isRefused ? handler.respondBusy : handler.fetch)(request, from);
    const { promise, ...settle } = Promise.withResolvers<Response>();
    // Refusals wait in a line of their own, as if they were for another client.
    const ownKey = isRefused ? `${key} refused` : key;
    turns.arrive({ key: ownKey, network, request, handle, ...settle });
    if (!isServing) void serveAll();
    return promise;
  }

  function isInTime(): boolean {
    if (tick.isWithin(BUDGET_MS)) return true;
    if (!tick.isOver) return false;
    // Watching a tick costs time, so it begins at most once in a whole budget.
    tick = new Tick();
    return true;
  }

  async function serveAll(): Promise<void> {
    isServing = true;
    if (tick.isOver) tick = new Tick();
    while (!turns.isEmpty()) {
      await tick.end;
      tick = new Tick();
      turns.beginTick();
      await serveTick(tick);
    }
    isServing = false;
  }

  /** Serves at least one request, so that none waits forever behind what else a tick has to do. */
  async function serveTick(current: Tick): Promise<void> {
    do {
      const waiting = turns.next();
      if (!waiting) return;
      // A response that waits for a store must not hold up all others.
      await Promise.race([serve(waiting), current.end]);
    } while (!current.isOver && current.isWithin(WAITING_BUDGET_MS));
  }

  async function serve({ key, request, handle, resolve, reject }: Waiting): Promise<void> {
    try {
      // Bun sends nothing and logs nothing if the connection is gone.
      request.signal.throwIfAborted();
      resolve(await handle());
    } catch (error) {
      reject(error);
    }
    turns.finish(key);
  }

  return takeTurn;
}

/** The tick of the event loop in which it is made. */
class Tick {
  readonly #startMs = performance.now();
  readonly end: Promise<void>;
  isOver = false;

  constructor() {
    this.end = nextTick().then(() => {
      this.isOver = true;
    });
  }

  isWithin(budgetMs: number): boolean {
    return performance.now() - this.#startMs <= budgetMs;
  }
}

/**
 * The waiting requests. They are held back until their sockets have been read again, which shows who has
 * left: after two ticks, each has been read once more. Then they join the queue of their client.
 */
class Turns {
  /** The requests that arrived in this tick and in the one before. */
  #arrivals: Waiting[] = [];
  #earlier: Waiting[] = [];
  /**
   * The queues of each client of each network, both in the order of their turns. No network and no queue
   * is empty.
   */
  readonly #networks = new Map<string, Map<string, Waiting[]>>();
  /** How many requests of each client wait for a turn or for their response. */
  readonly #counts = new Map<string, number>();

  isEmpty(): boolean {
    return this.#arrivals.length + this.#earlier.length + this.#networks.size === 0;
  }

  countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  arrive(waiting: Waiting): void {
    this.#arrivals.push(waiting);
    this.#counts.set(waiting.key, this.countOf(waiting.key) + 1);
  }

  beginTick(): void {
    for (const waiting of this.#earlier) this.#join(waiting);
    this.#earlier = this.#arrivals;
    this.#arrivals = [];
  }

  #join(waiting: Waiting): void {
    const { network, key } = waiting;
    const queues = this.#networks.get(network) ?? new Map<string, Waiting[]>();
    const queue = queues.get(key) ?? [];
    queue.push(waiting);
    queues.set(key, queue);
    this.#networks.set(network, queues);
  }

  /** Removes and returns the request whose turn it is. Its client and network go to the end. */
  next(): Waiting | undefined {
    const [network, queues] = takeFirst(this.#networks) ?? [];
    if (network === undefined || !queues) return undefined;
    const [key, queue = []] = takeFirst(queues) ?? [];
    const waiting = queue.shift();
    if (key !== undefined && queue.length > 0) queues.set(key, queue);
    if (queues.size > 0) this.#networks.set(network, queues);
    return waiting;
  }

  /** Called once the request that `next` has returned has its response. */
  finish(key: string): void {
    const count = this.countOf(key) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

function takeFirst<Value>(map: Map<string, Value>): [string, Value] | undefined {
  const [first] = map;
  if (first) map.delete(first[0]);
  return first;
}
