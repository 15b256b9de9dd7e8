/** Raw TCP clients that send arbitrary bytes and parse the responses. */
import { expect } from "bun:test";
import { connect, type Socket } from "node:net";
import { run, type Target, underLoad } from "./support.ts";

type Origin = Pick<Target, "origin">;

export interface RawResponse {
  status: number;
  /** The header lines, in lower case. */
  head: string;
  body: string;
  /** The body as received. */
  bytes: Buffer;
}

export interface Received {
  responses: RawResponse[];
  /** The bytes after the last complete response. */
  rest: string;
}

/** A request that makes the server respond and then close the connection. */
export const lastRequest = "GET /health HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

/** Opens a connection. The caller must handle any later errors on the connection. */
export function dial({ origin }: Origin): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Resolves when the other side closes the connection, cleanly or not. Discards incoming data. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.on("end", () => socket.destroy());
    socket.on("close", () => resolve());
    socket.resume();
  });
}

/** Reads until the other side closes the connection. */
export async function readAll(socket: Socket): Promise<Received> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await closed(socket);
  return parseResponses(Buffer.concat(chunks));
}

/** Sends the bytes, then reads until the other side closes the connection. */
export async function converse(target: Origin, ...parts: (string | Uint8Array)[]) {
  const socket = await dial(target);
  const received = readAll(socket);
  for (const part of parts) socket.write(part);
  return received;
}

/**
 * Sends each part after the response to the one before it. Bun may close a connection that sends a
 * request before that, so tests with several requests on a connection take turns.
 */
export async function exchange(target: Origin, ...parts: (string | Uint8Array)[]) {
  const socket = await dial(target);
  const end = closed(socket);
  const chunks: Buffer[] = [];
  const received = () => parseResponses(Buffer.concat(chunks));
  let onData = () => {};
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    onData();
  });
  for (const [at, part] of parts.entries()) {
    const responded = new Promise<void>((resolve) => {
      onData = () => received().responses.length > at && resolve();
    });
    socket.write(part);
    await Promise.race([responded, end]);
  }
  await end;
  return received();
}

/** Opens up to `wanted` connections, using at most a third of this process's file descriptors. */
export async function dialMany(target: Origin, wanted: number): Promise<Socket[]> {
  const { stdout } = await run(["sh", "-c", "ulimit -n"]);
  const count = Math.min(wanted, Math.floor(Number(stdout) / 3) || wanted);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => dial(target)))));
  }
  return sockets;
}

/** Parses the bytes received over one connection. Responses to HEAD are not supported. */
export function parseResponses(bytes: Buffer): Received {
  const responses: RawResponse[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) break;
    const head = bytes.toString("latin1", at, end).toLowerCase();
    const length = Number(/^content-length: (\d+)$/m.exec(head)?.[1] ?? 0);
    if (bytes.length < end + 4 + length) break;
    const status = Number(/^http\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const body = bytes.subarray(end + 4, end + 4 + length);
    responses.push({ status, head, body: body.toString(), bytes: body });
    at = end + 4 + length;
  }
  return { responses, rest: bytes.toString("latin1", at) };
}

/** Requests a profile repeatedly, on new connections, until `work` is done. */
export async function whileServingOthers<T>(target: Target, work: () => Promise<T>): Promise<T> {
  const done = Promise.withResolvers<T>();
  const ask = async () => {
    const headers = { connection: "close" };
    const response = await target.fetch("/users/public/42", { headers });
    await Bun.sleep(10);
    return `${response.status} ${/Nowak/.exec(await response.text())}`;
  };
  const seen = await underLoad(ask, async () => done.resolve(await work()));
  expect([...seen]).toEqual(["200 Nowak"]);
  return done.promise;
}

/**
 * Opens connections that send a request and never read the response. After every hundred
 * connections, calls `check`, which may throw to stop early.
 */
export async function holdUnread(
  target: Origin,
  count: number,
  headOf: (index: number) => string,
  check: () => void = () => {},
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const socket = await dial(target);
    socket.on("error", () => {});
    socket.pause();
    socket.write(headOf(sockets.length));
    sockets.push(socket);
    if (sockets.length % 100 > 0) continue;
    // A response here means that the server has started responding to all earlier requests.
    await converse(target, lastRequest);
    check();
  }
  return sockets;
}
