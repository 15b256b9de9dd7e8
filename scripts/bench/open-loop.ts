/**
 * A client that sends at set times, whether or not the server keeps up, and counts a latency from the
 * time a request was due. So a pause of the server counts for all who would have asked in it, which
 * clients that wait for an answer before they ask again leave out.
 */
import { type Connection, connect } from "./connection.ts";

interface OpenLoad {
  origin: string;
  /** Asked for in turn. */
  paths: string[];
  perSecond: number;
  seconds: number;
  /** What is due while none is free waits for one, and its latency runs. */
  connections?: number;
}

export interface OpenResult {
  /** Of every request that was due; of one without an answer, the time it has waited at least. */
  latenciesMs: number[];
  /** In the time of the schedule. */
  answeredPerSecond: number;
}

/** What is due and not sent so long after the last was due, is not sent. */
const PATIENCE_MS = 500;
/** So long an answer is awaited. */
const GIVE_UP_MS = 20_000;

/** Throws at an answer that is neither 2xx nor 3xx, and where a connection breaks. */
export async function loadOpen(load: OpenLoad): Promise<OpenResult> {
  const { origin, paths, perSecond, seconds } = load;
  const all = await Promise.all(
    Array.from({ length: load.connections ?? 64 }, () => connect(origin)),
  );
  const idle = [...all];
  const total = Math.round(perSecond * seconds);
  const latenciesMs: number[] = new Array(total);
  let sent = 0;
  let answered = 0;
  let inTime = 0;
  let fault: unknown;

  async function send(connection: Connection, request: number): Promise<void> {
    const answer = await connection.ask(paths[request % paths.length] ?? "");
    if (!/^HTTP\/1.1 [23]/.test(answer)) throw new Error(answer);
    latenciesMs[request] = performance.now() - dueMs(request);
    answered++;
    idle.push(connection);
  }

  const startMs = performance.now();
  const dueMs = (request: number) => startMs + (1000 * request) / perSecond;
  const endMs = dueMs(total);
  for (let now = startMs; answered < total && !fault; now = performance.now()) {
    if (now < endMs) inTime = answered;
    if (now > endMs + PATIENCE_MS && answered === sent) break;
    if (now > endMs + GIVE_UP_MS) break;
    while (sent < total && dueMs(sent) <= now && now <= endMs + PATIENCE_MS) {
      const connection = idle.pop();
      if (!connection) break;
      send(connection, sent++).catch((error) => {
        fault ??= error;
      });
    }
    // Not a timer: those are a millisecond late.
    await new Promise(setImmediate);
  }
  const nowMs = performance.now();
  for (let request = 0; request < total; request++) latenciesMs[request] ??= nowMs - dueMs(request);
  for (const connection of all) connection.close();
  if (fault) throw fault;
  return { latenciesMs, answeredPerSecond: inTime / seconds };
}
