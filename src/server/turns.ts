/**
 * Lets clients take turns. The server reads the requests of many connections in one tick of the
 * event loop, while timers, signals and other clients wait. So once a tick has lasted some
 * milliseconds, further requests wait, and are served in turn: a network (all that one customer may
 * own) after another, and within each, a client after another.
 * Bun closes a connection, without a response, if it has pipelined a request behind a waiting one.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { FetchHandler, RequestHandler } from "../http/request.ts";
import type { Client } from "../limit/client-address.ts";

const BUDGET_MS = 2;
/** Waiting requests get only a part of a tick, so that others are read soon. */
const WAITING_BUDGET_MS = BUDGET_MS / 2;
const REFUSING_BUDGET_MS = BUDGET_MS / 4;
/** Further requests of the same client are refused. */
const MAX_WAITING = 200;

type TurnHandler = Pick<RequestHandler, "fetch" | "refuse" | "clientOf" | "isToApi">;

/** Returns a handler that calls `handler.fetch`, at once or in a later tick. */
export function takeTurns(handler: TurnHandler): FetchHandler {
  const turns = new Turns(handler);
  return (request, from) => turns.respond(request, from);
}

interface Waiting extends Pick<PromiseWithResolvers<Response>, "resolve" | "reject"> {
  request: Request;
  from: unknown;
  client: Client;
  isRefused: boolean;
}

class Turns {
  readonly #handler: TurnHandler;
  #tick = new Tick();
  /**
   * The requests that arrived in the last ticks. They are held back until their sockets have been
   * read again, which shows who has left: after two ticks, each socket has been read once more.
   */
  readonly #arrivals: Waiting[][] = [[], []];
  readonly #queues = new Queues();
  readonly #refused: Waiting[] = [];
  /** How many requests of each client wait for a turn or for their response. */
  readonly #pending = new Map<string, number>();
  #isServing = false;

  constructor(handler: TurnHandler) {
    this.#handler = handler;
  }

  respond(request: Request, from: unknown): Response | Promise<Response> {
    // A page may cost more than a tick, so it waits until it is known that its client has stayed. So
    // does a search if anything waits, so that profiles need not wait for more than one search.
    const isDear = this.#isServing && request.url.includes("/search/");
    const isAtOnce = this.#isInTime() && !isDear && this.#handler.isToApi(request);
    if (isAtOnce) return this.#handler.fetch(request, from);
    return this.#wait(request, from);
  }

  #isInTime(): boolean {
    if (this.#tick.isWithin(BUDGET_MS)) return true;
    if (!this.#tick.isOver) return false;
    // Watching a tick costs time, so it begins at most once in a whole budget.
    this.#tick = new Tick();
    return true;
  }

  #wait(request: Request, from: unknown): Promise<Response> {
    const client = this.#handler.clientOf(request, from);
    const pending = this.#pending.get(client.key) ?? 0;
    const isRefused = pending >= MAX_WAITING;
    if (!isRefused) this.#pending.set(client.key, pending + 1);

    const { promise, ...settle } = Promise.withResolvers<Response>();
    this.#arrivals.at(-1)?.push({ request, from, client, isRefused, ...settle });
    if (!this.#isServing) void this.#serveAll();
    return promise;
  }

  async #serveAll(): Promise<void> {
    this.#isServing = true;
    if (this.#tick.isOver) this.#tick = new Tick();
    while (this.#hasWaiting()) {
      await this.#tick.end;
      this.#tick = new Tick();
      this.#arrivals.push([]);
      for (const waiting of this.#arrivals.shift() ?? []) {
        if (waiting.isRefused) this.#refused.push(waiting);
        else this.#queues.add(waiting);
      }
      this.#refuse();
      await this.#serveTick();
    }
    this.#isServing = false;
  }

  #hasWaiting(): boolean {
    const hasArrivals = this.#arrivals.some((arrived) => arrived.length > 0);
    return hasArrivals || this.#refused.length > 0 || !this.#queues.isEmpty();
  }

  #refuse(): void {
    while (this.#tick.isWithin(REFUSING_BUDGET_MS)) {
      const waiting = this.#refused.shift();
      if (!waiting) return;
      void this.#serve(waiting);
    }
  }

  /** Serves at least one request, so that none waits forever behind what else a tick has to do. */
  async #serveTick(): Promise<void> {
    const tick = this.#tick;
    do {
      const waiting = this.#queues.next();
      if (!waiting) return;
      // A response that waits for a store must not hold up all others.
      await Promise.race([this.#serve(waiting), tick.end]);
    } while (!tick.isOver && tick.isWithin(WAITING_BUDGET_MS));
  }

  async #serve({ request, from, client, isRefused, resolve, reject }: Waiting): Promise<void> {
    try {
      // Bun sends nothing and logs nothing if the connection is gone.
      request.signal.throwIfAborted();
      const { fetch, refuse } = this.#handler;
      resolve(await (isRefused ? refuse(request, from) : fetch(request, from)));
    } catch (error) {
      reject(error);
    }
    if (!isRefused) this.#finish(client);
  }

  #finish({ key }: Client): void {
    const others = (this.#pending.get(key) ?? 0) - 1;
    if (others > 0) this.#pending.set(key, others);
    else this.#pending.delete(key);
  }
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

/** The waiting requests of each client of each network, both in the order of their turns. */
class Queues {
  /** No network and no queue is empty. */
  readonly #networks = new Map<string, Map<string, Waiting[]>>();

  isEmpty(): boolean {
    return this.#networks.size === 0;
  }

  add(waiting: Waiting): void {
    const { network, key } = waiting.client;
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
}

function takeFirst<Value>(map: Map<string, Value>): [string, Value] | undefined {
  const [first] = map;
  if (first) map.delete(first[0]);
  return first;
}
