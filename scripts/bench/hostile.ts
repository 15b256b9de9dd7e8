/**
 * Owns the cost of hostile clients: the time from the last byte of a long request to its response,
 * for the worst content of every text that a client can make long, and the memory that the server
 * needs for clients that do not read their responses.
 */
import { once } from "node:events";
import { longDataset, makeSnapshot } from "../../test/datasets.ts";
import { converse, dial, holdUnread, lastRequest } from "../../test/sockets.ts";
import { openExecutable, type Target } from "../../test/support.ts";
import { median, megabytesOf, type Options, tableOf } from "./measure.ts";

const SIZES = [1_000, 16_000, 64_000, 128_000, 240_000];
const TIMES = 11;

const search = "/search/users?q=";
const profile = "/users/public/42";
const shapes: Record<string, (length: number) => [path: string, header?: string]> = {
  "q: marks out of order": (length) => [`${search}a${fill("%CC%81%CC%96", length)}`],
  "q: marks in opposite order": (length) => [
    `${search}a${fill("%CD%85", length / 2)}${fill("%CC%96", length / 2)}`,
  ],
  "q: marks that no fold drops": (length) => [`${search}a${fill("%D6%B0%D6%91", length)}`],
  "q: jamo": (length) => [search + fill("%E1%84%80", length)],
  "q: white space": (length) => [`${search}${fill("+%20", length)}anna`],
  "q: wider white space": (length) => [`${search}${fill("+%C2%A0", length)}anna`],
  "q: words of one letter": (length) => [search + fill("a+", length)],
  "pairs without a name": (length) => [`/search/users?${fill("&", length)}q=anna`],
  "keys that are no UTF-8": (length) => [`/search/users?${fill("%&", length)}q=anna`],
  "path: percent signs": (length) => [profile + fill("%25", length)],
  "X-Forwarded-For: commas": (length) => [`${search}anna`, `X-Forwarded-For: ${fill(",", length)}`],
  "X-Forwarded-For: proxies": (length) => [
    `${search}anna`,
    `X-Forwarded-For: ${fill("127.0.0.1,", length)}`,
  ],
  "Accept-Encoding: commas": (length) => [profile, `Accept-Encoding: ${fill(",", length)}`],
  "Accept-Encoding: codings": (length) => [profile, `Accept-Encoding: ${fill("a;q=1,", length)}`],
  "If-None-Match: tags": (length) => [profile, `If-None-Match: ${fill('"a",', length)}`],
  "If-None-Match: quotes": (length) => [profile, `If-None-Match: ${fill('"', length)}`],
  "X-Request-Id": (length) => [profile, `X-Request-Id: ${fill("a", length)}`],
};

function fill(piece: string, length: number): string {
  return piece.repeat(Math.floor(length / piece.length));
}

/** Milliseconds until the first bytes of the response. */
async function measure(server: Target, text: string): Promise<number> {
  const socket = await dial(server);
  socket.setNoDelay(true);
  // The end comes last, so that the way there is not measured.
  socket.write(text.slice(0, -2));
  await Bun.sleep(20);
  const answer = once(socket, "data");
  const sentMs = performance.now();
  socket.write(text.slice(-2));
  await answer;
  const ms = performance.now() - sentMs;
  socket.destroy();
  return ms;
}

export async function benchHostile({ isQuick }: Options): Promise<void> {
  await benchLongRequests(isQuick ? 1 : TIMES);
  await benchUnread(isQuick ? 100 : UNREAD);
}

async function benchLongRequests(tries: number): Promise<void> {
  const server = await openExecutable("--search-limit 0 --trusted-proxy 127.0.0.0/8".split(" "));
  const rows: string[][] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    const row = [name];
    for (const size of SIZES) {
      const [path, header = "X: y"] = shape(size);
      const text = `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n\r\n`;
      const taken: number[] = [];
      for (let times = 0; times <= tries; times++) taken.push(await measure(server, text));
      // The first warms the server up.
      const [, ...counted] = taken;
      row.push(`${median(counted).toFixed(1)} / ${Math.max(...counted).toFixed(1)}`);
    }
    rows.push(row);
  }
  const sizes = SIZES.map((size) => `${size / 1000} KB:`);
  console.log(tableOf([`ms, median / worst of ${tries}`, ...sizes], rows));
  await server.close();
}

const UNREAD = 800;

const unread: Record<string, [pathOf: (index: number) => string, coding: string]> = {
  "the largest asset": [() => "/docs/scalar.js", "identity"],
  "the largest asset, encoded": [() => "/docs/scalar.js", "gzip"],
  "the document": [() => "/docs/json", "identity"],
  "the longest list of achievements": [() => "/users/1/achievements", "identity"],
  "the longest lists, of different users": [(at) => `/users/${at + 1}/achievements`, "identity"],
};

/** Prints the growth of the server's memory while clients ask for something and do not read it. */
async function benchUnread(count: number): Promise<void> {
  const snapshot = await makeSnapshot(longDataset(count));
  const rows: string[][] = [];
  for (const [name, [pathOf, coding]] of Object.entries(unread)) {
    const server = await openExecutable(["--search-limit", "0", "--snapshot", snapshot]);
    const headOf = (at: number) =>
      `GET ${pathOf(at)} HTTP/1.1\r\nHost: a.example\r\nAccept-Encoding: ${coding}\r\n\r\n`;
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
  console.log(tableOf([`${count} connections that do not read`, "MB added", "at the peak"], rows));
}
