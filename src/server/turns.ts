/**
 * Lets clients take turns. The server reads the requests of many connections in one tick of the
 * event loop, while timers, signals and other clients wait. So once a tick has lasted some
 * milliseconds, further requests wait in a line per client, and are taken from each line in turn.
 * Bun closes a connection, without a response, if it has pipelined a request behind a waiting one.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { FetchHandler, RequestHandler } from "../http/app.ts";
import { isApiPath } from "../http/request.ts";

const BUDGET_MS = 2;
/** Waiting requests get only a part of a tick, so that others are read soon. */
const WAITING_BUDGET_MS = BUDGET_MS / 2;
const REFUSING_BUDGET_MS = BUDGET_MS / 4;
/** Further requests of the same client are refused. */
const MAX_WAITING = 200;
/** After two ticks, the socket has been read once more, which shows if the client has left. */
const TICKS_TO_NOTICE = 2;

interface Waiting {
  /** The tick in which the request arrived. */
  tick: number;
  serve(): Promise<Response> | Response | undefined;
}

/** Returns a handler that calls `fetch`, at once or in a later tick. */
export function takeTurns({
  fetch,
  clientOf,
}: Pick<RequestHandler, "fetch" | "clientOf">): FetchHandler {
  /** In the order of the clients' turns. No line is empty. */
  const lines = new Map<string, Waiting[]>();
  const refused: Waiting[] = [];
  let tick = 0;
  let startMs = 0;
  /** Resolves at the end of the current tick. Undefined if the tick is not watched. */
  let ended: Promise<void> | undefined;
  let isServing = false;

  const isWithin = (budgetMs: number) => performance.now() - startMs <= budgetMs;
  const isRipe = (waiting: Waiting | undefined): waiting is Waiting =>
    waiting !== undefined && tick - waiting.tick >= TICKS_TO_NOTICE;

  function watch(): Promise<void> {
    startMs = performance.now();
    ended = nextTick().then(() => {
      ended = undefined;
    });
    return ended;
  }

  async function serveLines(): Promise<void> {
    isServing = true;
    for (let end = ended ?? watch(); lines.size > 0 || refused.length > 0; ) {
      await end;
      tick++;
      end = watch();
      while (isRipe(refused[0]) && isWithin(REFUSING_BUDGET_MS)) refused.shift()?.serve();
      // A line that is set again during the iteration is visited again.
      for (const [client, line] of lines) {
        const [first] = line;
        if (!isRipe(first)) continue;
        line.shift();
        lines.delete(client);
        if (line.length > 0) lines.set(client, line);
        // A response that waits for a store must not hold up all lines. Bun handles rejections.
        await Promise.race([first.serve(), end]).catch(() => {});
        if (ended !== end || !isWithin(WAITING_BUDGET_MS)) break;
      }
    }
    isServing = false;
  }

  return (request, from) => {
    // A page may cost more than a tick, so it waits until it is known that its client has stayed.
    if (isApiPath(request.url)) {
      // Watching costs time, so it begins at most once in a whole budget.
      const isNew = !isWithin(BUDGET_MS) && !ended;
      if (isNew) watch();
      if (isNew || isWithin(BUDGET_MS)) return fetch(request, from);
    }
    const client = clientOf(request, from);
    const line = lines.get(client) ?? [];
    const isRefused = line.length >= MAX_WAITING;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const serve = () => {
      // Bun sends nothing and logs nothing if the connection is gone.
      if (request.signal.aborted) return void reject(request.signal.reason);
      const response = fetch(request, from, isRefused);
      resolve(response);
      return response;
    };
    (isRefused ? refused : line).push({ tick, serve });
    lines.set(client, line);
    if (!isServing) void serveLines();
    return promise;
  };
}
