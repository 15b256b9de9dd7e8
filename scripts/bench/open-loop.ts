/**
 * A client that sends at set times, whether or not the server keeps up, and counts a latency from the
 * time a request was due. So a pause of the server counts for all who would have asked in it, which
 * clients that wait for an answer before they ask again leave out.
 */

export interface OpenLoad {
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

interface Connection {
  socket: Bun.Socket;
  received: string;
  /** Which request is under way. */
  request: number;
}

/** What is due and not sent so long after the last was due, is not sent. */
const PATIENCE_MS = 500;
/** So long an answer is awaited. */
const GIVE_UP_MS = 20_000;

/** Throws at an answer that is neither 2xx nor 3xx, and where a connection breaks. */
export async function loadOpen(load: OpenLoad): Promise<OpenResult> {
  const { hostname, port } = new URL(load.origin);
  const heads = load.paths.map(
    (path) => `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`,
  );
  const total = Math.round(load.perSecond * load.seconds);
  const latenciesMs: number[] = new Array(total);
  const idle: Connection[] = [];
  let sent = 0;
  let answered = 0;
  let fault: Error | undefined;

  const all = await Promise.all(
    Array.from({ length: load.connections ?? 64 }, async () => {
      const connection = { received: "", request: 0 } as Connection;
      connection.socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data(_, chunk) {
            connection.received += chunk.toString("latin1");
            if (!isWhole(connection.received)) return;
            if (!/^HTTP\/1.1 [23]/.test(connection.received))
              fault = new Error(connection.received);
            latenciesMs[connection.request] = performance.now() - dueMs(connection.request);
            answered++;
            idle.push(connection);
          },
          close() {
            fault ??= new Error("the server closed a connection");
          },
        },
      });
      idle.push(connection);
      return connection;
    }),
  );

  const startMs = performance.now();
  const dueMs = (request: number) => startMs + (1000 * request) / load.perSecond;
  const endMs = dueMs(total);
  let inTime = 0;
  for (let now = startMs; answered < total && !fault; now = performance.now()) {
    if (now < endMs) inTime = answered;
    if (now > endMs + PATIENCE_MS && answered === sent) break;
    if (now > endMs + GIVE_UP_MS) break;
    while (sent < total && dueMs(sent) <= now && now <= endMs + PATIENCE_MS) {
      const connection = idle.pop();
      if (!connection) break;
      connection.received = "";
      connection.request = sent++;
      connection.socket.write(heads[connection.request % heads.length] ?? "");
    }
    // Not a timer: those are a millisecond late.
    await new Promise(setImmediate);
  }
  const nowMs = performance.now();
  for (let request = 0; request < total; request++) latenciesMs[request] ??= nowMs - dueMs(request);
  const failed = fault;
  for (const { socket } of all) socket.end();
  if (failed) throw failed;
  return { latenciesMs, answeredPerSecond: inTime / load.seconds };
}

function isWhole(received: string): boolean {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return received.length >= head + 4 + Number(length ?? 0);
}
