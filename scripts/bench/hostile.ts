/**
 * Measures two costs of hostile clients. The first cost is the time that the server takes to
 * respond to a very long request. Each input that a client can make long is filled with the slowest
 * content known for it. The second cost is the memory that the server needs for clients that never
 * read their responses.
 */
import { once } from "node:events";
import { longDataset, makeSnapshot } from "../../test/datasets.ts";
import { converse, dial, holdUnread, lastRequest } from "../../test/sockets.ts";
import { openExecutable, type Target } from "../../test/support.ts";
import { median, megabytesOf, type Options, tableOf } from "./measure.ts";

const SIZES = [1_000, 5_000, 15_000];
const TRIES = 11;

const SEARCH = "/search/users?q=";
const PROFILE = "/users/public/42";
/** Each function returns the path, and sometimes a header, of a request of about `length` bytes. */
const longRequests: Record<string, (length: number) => [path: string, header?: string]> = {
  "q: marks out of order": (length) => [`${SEARCH}a${fill("%CC%81%CC%96", length)}`],
  "q: marks in opposite order": (length) => [
    `${SEARCH}a${fill("%CD%85", length / 2)}${fill("%CC%96", length / 2)}`,
  ],
  "q: marks that folding keeps": (length) => [`${SEARCH}a${fill("%D6%B0%D6%91", length)}`],
  "q: jamo": (length) => [SEARCH + fill("%E1%84%80", length)],
  "q: white space": (length) => [`${SEARCH}${fill("+%20", length)}anna`],
  "q: white space of two bytes": (length) => [`${SEARCH}${fill("+%C2%A0", length)}anna`],
  "q: words of one letter": (length) => [SEARCH + fill("a+", length)],
  "query: empty pairs": (length) => [`/search/users?${fill("&", length)}q=anna`],
  "keys that are not UTF-8": (length) => [`/search/users?${fill("%&", length)}q=anna`],
  "path: percent signs": (length) => [PROFILE + fill("%25", length)],
  "X-Forwarded-For: commas": (length) => [`${SEARCH}anna`, `X-Forwarded-For: ${fill(",", length)}`],
  "X-Forwarded-For: trusted addresses": (length) => [
    `${SEARCH}anna`,
    `X-Forwarded-For: ${fill("127.0.0.1,", length)}`,
  ],
  "Accept-Encoding: commas": (length) => [PROFILE, `Accept-Encoding: ${fill(",", length)}`],
  "Accept-Encoding: codings": (length) => [PROFILE, `Accept-Encoding: ${fill("a;q=1,", length)}`],
  "If-None-Match: tags": (length) => [PROFILE, `If-None-Match: ${fill('"a",', length)}`],
  "If-None-Match: quotes": (length) => [PROFILE, `If-None-Match: ${fill('"', length)}`],
  "X-Request-Id": (length) => [PROFILE, `X-Request-Id: ${fill("a", length)}`],
};

function fill(piece: string, length: number): string {
  return piece.repeat(Math.floor(length / piece.length));
}

/** Returns the milliseconds from sending the last byte of the request until the response starts. */
async function measure(server: Target, request: string): Promise<number> {
  const socket = await dial(server);
  socket.setNoDelay(true);
  // The server receives all but the last two bytes before the clock starts.
  socket.write(request.slice(0, -2));
  await Bun.sleep(20);
  const response = once(socket, "data");
  const sentMs = performance.now();
  socket.write(request.slice(-2));
  await response;
  const ms = performance.now() - sentMs;
  socket.destroy();
  return ms;
}

export async function benchHostile({ isQuick }: Options): Promise<void> {
  await benchLongRequests(isQuick ? 1 : TRIES);
  await benchUnread(isQuick ? 100 : UNREAD_CONNECTIONS);
}

async function benchLongRequests(tries: number): Promise<void> {
  const server = await openExecutable("--search-limit 0 --trusted-proxy 127.0.0.0/8".split(" "));
  const rows: string[][] = [];
  for (const [name, create] of Object.entries(longRequests)) {
    const row = [name];
    for (const size of SIZES) {
      const [path, header = "X: y"] = create(size);
      const request = `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n\r\n`;
      await measure(server, request); // warm-up
      const times: number[] = [];
      while (times.length < tries) times.push(await measure(server, request));
      row.push(`${median(times).toFixed(1)} / ${Math.max(...times).toFixed(1)}`);
    }
    rows.push(row);
  }
  const sizes = SIZES.map((size) => `${size / 1000} KB:`);
  console.log(tableOf([`ms, median / maximum of ${tries}`, ...sizes], rows));
  await server.close();
}

const UNREAD_CONNECTIONS = 800;

const unreadResponses: Record<string, [pathOf: (index: number) => string, coding: string]> = {
  "the largest asset": [() => "/docs/scalar.js", "identity"],
  "the largest asset, encoded": [() => "/docs/scalar.js", "gzip"],
  "the OpenAPI document": [() => "/docs/json", "identity"],
  "one list of achievements, of maximum length": [() => "/users/1/achievements", "identity"],
  "different lists of achievements, of maximum length": [
    (index) => `/users/${index + 1}/achievements`,
    "identity",
  ],
  "the page of one driver": [() => "/drivers/1", "identity"],
  "the pages of different drivers": [(index) => `/drivers/${index + 1}`, "identity"],
};

/** Prints how much memory the server needs for clients that never read their responses. */
async function benchUnread(count: number): Promise<void> {
  const snapshot = await makeSnapshot(longDataset(count));
  const rows: string[][] = [];
  for (const [name, [pathOf, coding]] of Object.entries(unreadResponses)) {
    const server = await openExecutable(["--search-limit", "0", "--snapshot", snapshot]);
    const headOf = (index: number) =>
      `GET ${pathOf(index)} HTTP/1.1\r\nHost: a.example\r\nAccept: text/html\r\nAccept-Encoding: ${coding}\r\n\r\n`;
    await converse(server, headOf(0) + lastRequest);
    const before = megabytesOf(server.pid, "VmRSS");
    const sockets = await holdUnread(server, count, headOf);
    const growths = (["VmRSS", "VmHWM"] as const).map(
      (key) => megabytesOf(server.pid, key) - before,
    );
    rows.push([name, ...growths.map((growth) => growth.toFixed(0))]);
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
  console.log(
    tableOf(
      [`${count} connections that do not read`, "added, MB:", "added at the peak, MB:"],
      rows,
    ),
  );
}
