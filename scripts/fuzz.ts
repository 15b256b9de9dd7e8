/**
 * `bun run fuzz` sends mutated requests to the executable, or to a running server. It checks that
 * the server stays alive and never responds with 5xx, and that every error has the documented body.
 * A failure is reported with the seed and with the request that caused it. `bun run fuzz [ORIGIN]
 * [--seconds N] [--seed N]`: without a running server's origin, it starts one.
 */
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { Random } from "../src/domain/random.ts";
import { makeSnapshot } from "../test/datasets.ts";
import { fixture, openExecutable } from "../test/support.ts";

const DEADLINE_MS = 5_000;
const WORKERS = 8;

const targets = [
  "/users/public/42",
  "/api/users/42/achievements",
  "/search/users?q=nowak",
  "/api/search/companies?q=b%C3%A4ltic",
  "/health",
  "/docs",
  "/docs/json",
  "/",
  "*",
  "http://other.example/users/public/42",
];
const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE", "CONNECT", "get", "BREW", ""];
/** Only the first Host header of a request counts, so it is chosen separately. */
const hosts = [
  "Host: roadbook.example",
  "Host: a",
  "Host:",
  "Host: a b",
  "Host: a:99999",
  "Host: [::1",
  "Host: x\u0000y",
  "X-No: host",
];
const headers = [
  ...hosts,
  "Accept-Encoding: zstd;q=9, *;q=-1,,",
  'If-None-Match: "',
  "If-None-Match: *",
  "X-Forwarded-For: ::::, 999.1.1.1, junk",
  "X-Request-Id: \u00ff{}",
  "Content-Length: 5",
  "Content-Length: 99999999999999999999",
  "Content-Length: -1",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: chunked, identity",
  "Expect: 100-continue",
  "Range: bytes=0-1",
  "Upgrade: websocket",
  `X-Long: ${"x".repeat(9000)}`,
  `X-Forwarded-For: ${",".repeat(5000)}`,
  `If-None-Match: ${'"",'.repeat(3000)}`,
  `Accept-Encoding: ${"a;q=1,".repeat(1000)}`,
  " folded",
  "No colon",
  "Cookie: a=b",
  "Origin: null",
];
const mutations = [
  ..."% %00 %ff%fe %zz %2e%2e/ ../ // \\ ? # &q=ab q= ; 9007199254740993 -1 1e9 ' \" <".split(" "),
  ...[" ", "\t", "\u0000", "\u00ff", "\ud83d\ude9a", "%F0%9F%9A%9A", "%CC%81", "\r", "\r\n"],
  "x".repeat(3000),
  "%CC%81%CC%96".repeat(1000),
  "%E1%84%80".repeat(500),
  "%D0%A9%ED%9E%A3%E3%8D%BF%C3%96".repeat(200),
  "a+".repeat(1000),
  "&".repeat(2000),
];

/**
 * Sends requests until there are enough. If a check fails, throws an error with the seed and the
 * request.
 */
export async function fuzz(origin: string, seed: number, isEnough: (requests: number) => boolean) {
  const { hostname, port } = new URL(origin);
  const random = new Random(seed);
  const statuses: Record<string, number> = {};
  let requests = 0;

  function createRequest(): Buffer {
    let target = random.pick(targets);
    for (let times = random.below(4); times > 0; times--) {
      const at = random.below(target.length + 1);
      target = target.slice(0, at) + random.pick(mutations) + target.slice(at + random.below(3));
    }
    const lines = Array.from({ length: random.below(5) }, () => random.pick(headers));
    const head = `${random.pick(methods)} ${target} HTTP/1.${random.below(3)}\r\n`;
    const close = random.below(2) ? "Connection: close\r\n" : "";
    const host = random.below(4) ? hosts[0] : random.pick(hosts);
    const bytes = Buffer.from(`${head}${host}\r\n${lines.join("\r\n")}\r\n${close}\r\n`);
    for (let times = random.below(8) ? 0 : random.below(4); times > 0; times--)
      bytes[random.below(bytes.length)] = random.below(256);
    const pipelined = random.below(10) ? bytes : Buffer.concat([bytes, bytes, bytes]);
    return random.below(10) ? pipelined : pipelined.subarray(0, random.below(pipelined.length));
  }

  async function worker(): Promise<void> {
    while (!isEnough(requests)) {
      const request = createRequest();
      const response = await send(hostname, Number(port), request);
      const status = /^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? "closed";
      requests++;
      statuses[status] = (statuses[status] ?? 0) + 1;
      const problem = findProblem(response, /^HEAD /.test(request.toString("latin1")));
      if (problem)
        throw new Error(
          `seed ${seed}: ${problem}\n${JSON.stringify(request.toString("latin1"))}\n${response.slice(0, 2000)}`,
        );
    }
  }

  await Promise.all(Array.from({ length: WORKERS }, worker));
  const health = await fetch(`${origin}/health`);
  if (!health.ok) throw new Error(`seed ${seed}: /health responded ${health.status} afterwards`);
  return { requests, statuses };
}

/** Checks the first response on a connection. Returns a description of the problem, if any. */
function findProblem(response: string, isHead: boolean): string | undefined {
  if (response === "") return undefined; // The server closed the connection, which is allowed.
  const [head = "", body = ""] = response.split(/\r\n\r\n([\s\S]*)/);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return "no status line";
  if (status >= 500 && status !== 505) return "server error";
  // Bun itself rejects bytes that are not HTTP, with an empty body, before Roadbook sees them.
  if (isHead || status < 400 || body === "" || !/^content-type: application\/json/im.test(head))
    return undefined;
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  const first = Buffer.from(body, "latin1").subarray(0, length).toString();
  try {
    const { success, error } = JSON.parse(first);
    return success === false && typeof error.code === "string" && typeof error.message === "string"
      ? undefined
      : "wrong error body";
  } catch {
    return "not JSON";
  }
}

/** Sends the bytes and reads until the connection closes or is idle for 100 ms. */
function send(host: string, port: number, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, host, () => socket.write(request));
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString("latin1"));
    };
    // An idle connection means that the server has responded or is waiting for more of the request.
    socket.setTimeout(100, done);
    const timer = setTimeout(() => reject(new Error("the response did not end")), DEADLINE_MS);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => {
      clearTimeout(timer);
      done();
    });
    socket.on("error", done);
  });
}

/** Starts the executable without a search limit, on a dataset in which some avatars are paths. */
export const openFuzzTarget = async () =>
  openExecutable(["--snapshot", await makeSnapshot(fixture), "--search-limit", "0"]);

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { seconds: { type: "string", default: "600" }, seed: { type: "string" } },
    allowPositionals: true,
  });
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  const target = positionals[0] ? undefined : await openFuzzTarget();
  const origin = target?.origin ?? positionals[0] ?? "";
  console.log(`fuzzing ${origin} for ${values.seconds} s, seed ${seed}`);
  const end = performance.now() + Number(values.seconds) * 1000;
  console.log(await fuzz(origin, seed, () => performance.now() >= end));
  await target?.close();
  process.exit(0);
}
