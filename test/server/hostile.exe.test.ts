/**
 * Hostile clients over TCP always get a response or a clean close. Memory stays bounded, and other
 * clients are still served.
 *
 * Bun parses HTTP and tests its own parser. Tests marked "canary" only detect whether an upgrade of
 * Bun weakens its most important protections: against requests hidden in bodies, huge heads and
 * bodies, slow or silent clients, and pipelining. All other tests cover Roadbook's own code.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LONG_LIST, longDataset, makeSnapshot } from "../datasets.ts";
import { runs } from "../runs.ts";
import {
  closed,
  converse,
  dial,
  dialMany,
  exchange,
  holdUnread,
  lastRequest,
  peakMegabytes,
  type RawResponse,
  readAll,
  residentMegabytes,
  whileServingOthers,
} from "../sockets.ts";
import { community, importByExecutable, openExecutable, until } from "../support.ts";

const MEGABYTE = 1_000_000;
/** An attack may use as much memory as normal traffic does, plus garbage not yet collected. */
const BOUND_MEGABYTES = 150;

const profile = "/users/public/42";
const host = "Host: a.example\r\n";
const get = (path: string) => `GET ${path} HTTP/1.1\r\n`;
const asked = get(profile) + host;
const posted = `POST ${profile} HTTP/1.1\r\n${host}`;

let server: Awaited<ReturnType<typeof openExecutable>>;
/** Takes more than ten seconds, so it runs during all other tests. */
let slow: Promise<void>;
beforeAll(async () => {
  slow = disconnectSlowClients();
  const snapshot = await importByExecutable(community);
  server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
});
afterAll(() => server.close());

/** Sends each part after the response to the one before, while another client is being served. */
function send(...parts: (string | Uint8Array)[]) {
  return whileServingOthers(server, () => exchange(server, ...parts));
}

/** Sends one request, and returns its response. */
async function ask(head: string, target = server): Promise<RawResponse> {
  const bytes = Buffer.from(`${head}Connection: close\r\n\r\n`, "latin1");
  const { responses, rest } = await converse(target, bytes);
  expect([responses.length, rest]).toEqual([1, ""]);
  return responses[0] as RawResponse;
}

const statusesOf = (responses: RawResponse[]) => responses.map(({ status }) => status);

/**
 * Expects an error or no response. Bun closes the connection without reading everything, so the
 * system may drop the response.
 */
async function expectRefusal(status: number, ...parts: (string | Uint8Array)[]) {
  const { responses, rest } = await send(...parts);
  expect([[], [status]]).toContainEqual(statusesOf(responses));
  expect([rest, responses.map(({ body }) => body).join("")]).toEqual(["", ""]);
}

function expectErrorShape({ status, body }: RawResponse, expected: number) {
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({
    success: false,
    error: { code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) },
  });
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe("requests that are too long", () => {
  test.each([
    ["a query of a megabyte", get(`/search/users?q=${"a".repeat(MEGABYTE)}`) + host],
    ["a thousand header lines", asked + "X: y\r\n".repeat(1000)],
  ])("canary: %s is rejected", (_, head) => expectRefusal(431, `${head}\r\n`, lastRequest));

  test("a path of 15,000 characters is a 404", async () => {
    expectErrorShape(await ask(get(`/${"a".repeat(15_000)}`) + host), 404);
  });

  test("canary: a chunked body is discarded", async () => {
    const target = await openExecutable([]);
    const body = `${chunk("x".repeat(MEGABYTE)).repeat(10)}0\r\n\r\n`;
    const head = `${posted}Transfer-Encoding: chunked\r\n\r\n`;
    const before = peakMegabytes(target.pid);
    const clients = Array.from({ length: 20 }, () => converse(target, head, body, lastRequest));
    const received = await whileServingOthers(target, () => Promise.all(clients));
    for (const { responses } of received) expect(statusesOf(responses)).toEqual([405, 200]);
    expectBounded(target.pid, before);
    await target.close();
  });
});

function expectBounded(pid: number, before: number | undefined) {
  const after = peakMegabytes(pid);
  if (before !== undefined && after !== undefined)
    expect(after - before).toBeLessThan(BOUND_MEGABYTES);
}

/** Close to the maximum length of a request head. */
const HEAD_LENGTH = 15_000;
const filled = (piece: string) => piece.repeat(Math.floor(HEAD_LENGTH / piece.length));
const search = "/search/users?q=";

/** Requests that must not delay others. NFC normalization of the first one used to take minutes. */
const heavy: [string, string, string?][] = [
  ["marks out of order", `${search}a${filled("%CC%81%CC%96")}`],
  ["marks that folding keeps", `${search}a${filled("%D6%B0%D6%91")}`],
  ["two kinds of marks", `${search}a${filled("%CD%85%CC%96")}`],
  ["jamo", search + filled("%E1%84%80")],
  ["words of one letter", search + filled("a+")],
  ["ligatures", search + filled("%EF%B7%BA")],
  ["parameters without a name", `/search/users?${filled("&")}`],
  ["parameter names that are not UTF-8", `/search/users?${filled("%&")}`],
  ["many q parameters", `/search/users?${filled("q=a&")}`],
  ["percent signs in a path", `/users/public/${filled("%25")}`],
  ["commas in Accept-Encoding", profile, `Accept-Encoding: ${filled(",")}`],
  ["content codings", profile, `Accept-Encoding: ${filled("a;q=1,")}`],
  ["tags in If-None-Match", profile, `If-None-Match: ${filled('"",')}`],
  ["quotes in If-None-Match", profile, `If-None-Match: ${filled('"')}`],
  ["commas in X-Forwarded-For", `${search}ab`, `X-Forwarded-For: ${filled(",")}`],
  ["a request id", profile, `X-Request-Id: ${filled("a")}`],
];

describe("a request of 15 KB takes time proportional to its length", () => {
  test.each(heavy)("%s, repeatedly", async (_, path, header = "X: y") => {
    const head = `${get(path)}${host}${header}\r\n`;
    for (let times = 0; times < runs(10); times += 5) {
      const responses = await Promise.all(Array.from({ length: 5 }, () => ask(head)));
      for (const { status } of responses) expect([200, 400, 404]).toContain(status);
    }
  });

  test("white space around a query does not count towards its length", async () => {
    const path = `${search}${"+%20".repeat(1000)}nowak${"%E2%80%83".repeat(1000)}`;
    expect((await ask(get(path) + host)).body).toContain("Nowak");
  });
});

describe("clients that fill buffers", () => {
  test.concurrent("a thousand unfinished heads of 200 KB take less than 100 MB", async () => {
    const target = await openExecutable([]);
    const before = residentMegabytes(target.pid) ?? 0;
    const sockets = await dialMany(target, 1000);
    for (const [at, socket] of sockets.entries()) {
      socket.on("error", () => {});
      socket.write(`${asked}X-Slow: ${"x".repeat(200_000)}`);
      // A response here means that the server has read the earlier heads.
      if (at % 10 === 0) expect((await target.fetch(profile)).status).toBe(200);
    }
    expect((residentMegabytes(target.pid) ?? 0) - before).toBeLessThan(100);
    for (const socket of sockets) socket.destroy();
    await target.close();
  });

  test.concurrent("a client that pipelines two thousand requests for 4 MB without reading", async () => {
    const target = await openExecutable([]);
    const path = "/docs/scalar.js";
    const whole = await ask(get(path) + host, target);
    const before = peakMegabytes(target.pid);
    await whileServingOthers(target, async () => {
      const sockets = await dialMany(target, 10);
      for (const socket of sockets) {
        socket.pause();
        socket.write(`${get(path)}${host}\r\n`.repeat(2000));
      }
      // Time in which a server that buffers responses without a limit would exceed the bound.
      await Bun.sleep(1000);
      for (const { responses } of await Promise.all(sockets.map(readAll))) {
        expect(responses.length).toBeLessThanOrEqual(2000);
        expect(responses.every(({ bytes }) => whole.bytes.equals(bytes))).toBe(true);
      }
    });
    expectBounded(target.pid, before);
    await target.close();
  });
});

/** Enough connections that a copy of the response for each would exceed the bound. */
const UNREAD = { copies: 100, bodies: 800 };
const UNREAD_MEGABYTES = 100;

describe("hundreds of connections that never read a response", () => {
  let snapshot: string;
  beforeAll(async () => {
    snapshot = await makeSnapshot(longDataset(UNREAD.bodies + 1));
  });

  test.each<[string, number, (at: number) => string, string]>([
    ["the largest asset", UNREAD.copies, () => "/docs/scalar.js", "identity"],
    ["the largest asset, encoded", UNREAD.copies, () => "/docs/scalar.js", "gzip"],
    ["achievements", UNREAD.bodies, (at) => `/users/${at + 1}/achievements`, "identity"],
  ])(
    "use a bounded amount of memory, and others get the largest bodies completely: %s",
    async (_, count, pathOf, coding) => {
      const target = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
      const headers = `${host}Accept: text/html\r\nAccept-Encoding: ${coding}\r\n`;
      const headOf = (at: number) => `${get(pathOf(at)) + headers}\r\n`;
      // The first request fills the caches that all clients share.
      await ask(get(pathOf(0)) + headers, target);
      const before = residentMegabytes(target.pid) ?? 0;
      const sockets = await holdUnread(target, count, headOf, () => {
        expect((residentMegabytes(target.pid) ?? 0) - before).toBeLessThan(UNREAD_MEGABYTES);
      });
      const { achievements: read } = await (await target.fetch("/users/1/achievements")).json();
      expect(read).toHaveLength(LONG_LIST);
      expect((await (await target.fetch("/docs/scalar.js")).bytes()).length).toBeGreaterThan(4e6);
      for (const socket of sockets) socket.destroy();
      await target.close();
    },
  );
});

// Bun closes a connection if a second request arrives before it has responded to the first. So the
// responses may end early, but those that are sent are complete and in order.
test("thousands of pipelined requests do not hold up another client", async () => {
  const logs: string[] = [];
  const target = await openExecutable(["--access-log"], (text) => logs.push(text));
  const paths = [...Array.from({ length: 30 }, (_, at) => `/users/public/${at}`), "/nowhere"];
  const bodies = await Promise.all(
    paths.map(async (path) => {
      const text = await (await target.fetch(path)).text();
      return text.replaceAll(target.origin, "http://a.example");
    }),
  );
  const order = Array.from({ length: 3000 }, (_, at) => (at * 7) % paths.length);
  const [socket, other] = [await dial(target), await dial(target)];
  const received = readAll(socket);
  // While the server is stopped, all requests of one client arrive, and then one of another.
  process.kill(target.pid, "SIGSTOP");
  const heads = order.map((at) => get(paths[at] ?? "") + host);
  socket.write(`${heads.join("\r\n")}Connection: close\r\n\r\n`);
  await until(() => socket.writableLength === 0);
  other.write(`${get("/users/46/achievements")}${host}Connection: close\r\n\r\n`);
  process.kill(target.pid, "SIGCONT");
  expect(statusesOf((await readAll(other)).responses)).toEqual([200]);
  const { responses, rest } = await received;
  expect(responses.map(({ body }) => body)).toEqual(
    order.slice(0, responses.length).map((at) => bodies[at] ?? ""),
  );
  expect(rest).toBe("");
  await target.close();
  const routes = logs
    .join("")
    .split("\n")
    .map((line) => /"route":("[^"]*"|null)/.exec(line)?.[1]);
  const isFirst = (route: string | undefined) => route === '"/users/public/:userId"';
  const before = routes.slice(0, routes.indexOf('"/users/:userId/achievements"'));
  // Without a budget, the server handles all 2,500 requests that it can read at once.
  expect(before.filter(isFirst).length).toBeLessThan(1000);
});

const oddHosts = [
  "",
  " ",
  "a b",
  "a:99999",
  "a:b",
  "[::1",
  "[::1]:80:80",
  "a@b",
  "u:p@h?q#f",
  "a/../../x",
  "a\\b",
  "a/search/users?q=no#",
  '<script>"',
  "{}|^`",
  "%41",
  "%zz",
  "xn--a",
  "1.2.3.4.5",
  "999999999999",
  "\u00ff\u00fe",
  ".",
  "?",
  "#",
  "a".repeat(10_000),
];

describe("the host", () => {
  test("with any value, the response is correct and has valid avatar URLs", async () => {
    for (const name of oddHosts) {
      for (const path of [
        "/users/public/45",
        "/search/users?q=nowak",
        "/api/search/users?q=nowak",
      ]) {
        const head = `${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
        const { rest } = await converse(server, Buffer.from(`HEAD ${head}`, "latin1"));
        expect(rest).toStartWith("HTTP/1.1 200 OK\r\n");
        const { status, body } = await ask(`${get(path)}Host: ${name}\r\n`);
        expect([name, status]).toEqual([name, 200]);
        const { user, users = [user] } = JSON.parse(body);
        expect(users[0].avatar_url).toMatch(/^http:\/\/[^/]+\/avatars\/45\.png$/);
        expect(URL.canParse(users[0].avatar_url)).toBe(true);
      }
    }
  });

  test("is optional in HTTP/1.0 and required in HTTP/1.1", async () => {
    const { responses } = await send(`GET ${profile} HTTP/1.0\r\n\r\n`);
    expect(statusesOf(responses)).toEqual([200]);
    await expectRefusal(400, `${get(profile)}\r\n`, lastRequest);
  });
});

test("no variation of the path or host evades the search limit", async () => {
  const snapshot = await importByExecutable(community);
  // With `--featured`, the start page does not already contain the search result.
  const flags = ["--search-limit", "1", "--featured", "42"];
  const target = await openExecutable(["--snapshot", snapshot, ...flags]);
  const search = "/search/users?q=nowak";
  const found = await target.fetch(search);
  expect([found.status, await found.text()]).toEqual([200, expect.stringContaining("Anna")]);
  const variations = [
    search,
    `/api${search}`,
    `/x/..${search}`,
    "/search/./users?q=nowak",
    `/%2e${search}`,
    `/%2e%2e${search}`,
    "/search\\users?q=nowak",
    "\\search\\users?q=nowak",
    "/sea\trch/users?q=nowak",
    "/search/users#?q=nowak",
    "/search%2fusers?q=nowak",
    "/search/us%65rs?q=nowak",
    "/search/users/?q=nowak",
    `/${search}`,
    "/s?xxxxxxxxxxx&q=nowak&/search/users?",
    "/?xxxxxxxxxxxxx&q=nowak&/search/users?",
    `${search}&/search/users`,
    `${search}&://`,
    `http://a${search}`,
    `http://${search}`,
    `http://a:99999${search}`,
    `http://a/x/..${search}`,
    `http:///x/..${search}`,
    `http://a://b${search}`,
    `/a://b${search}`,
  ];
  const outcomes = new Set<string>();
  for (const name of [...oddHosts.slice(0, -1), "a", "nas", "a.example"]) {
    for (const variation of variations) {
      const head = `${get(variation)}Host: ${name}\r\n`;
      const { status, body } = await ask(head, target);
      // Requests for the page itself are not limited, but the page's searches are.
      const isPage = body.startsWith("<!doctype html>");
      if ((status === 200 && !isPage) || status === 500)
        outcomes.add(`${status} for ${JSON.stringify(head)}`);
      expect(body).not.toContain("Anna");
    }
  }
  expect([...outcomes]).toEqual([]);
  await target.close();
});

describe("paths", () => {
  const nowhere = [
    "//",
    "///",
    "/%",
    "/%zz",
    "/%2e%2e%2f",
    `/${profile}`,
    "/users//public/42",
    `${profile}/`,
    "/users%2fpublic%2f42",
    `${profile}%2f`,
    `${profile}%2F`,
    "/users/public/%2e%2e%2f42",
    "/users/4%2f2/achievements",
    "/drivers/4%2f2",
    "/avatars/4%2f2.svg",
    "/%75sers/public/42",
    `/api/api${profile}`,
    `/API${profile}`,
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/..%5c..%5cetc%5cpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/.%2e/.%2e/etc/passwd",
    "/..\\..\\etc\\passwd",
    "//etc/passwd",
    "/docs/../../etc/passwd",
    "/docs/..%2f..%2fetc/passwd",
    "/docs//json",
    "/docs/scalar.js/",
    "/docs/scalar.js%00.html",
    "/docs/%ff",
    "/health/..;/",
    "/$bunfs/root/demo.snapshot",
    "/package.json",
    "/.env",
    "/..%c0%afetc/passwd",
    "http://a.example/etc/passwd",
    "http://a.example//users/public/42",
  ];
  test("that lead nowhere are a 404", async () => {
    for (const path of nowhere) expectErrorShape(await ask(get(path) + host), 404);
  });

  test("with characters after a user id are a 400", async () => {
    for (const end of ["%00", "%ff", ";x", "#x", "%20", "%2e%2e", "\u00ff"]) {
      expectErrorShape(await ask(get(profile + end) + host), 400);
    }
  });

  // Bun does not expose the raw request target, only a URL in which backslashes become slashes.
  test("have their dot segments and backslashes resolved, as in any URL", async () => {
    const { body } = await ask(asked);
    for (const path of [
      "/./users/public/42",
      "/x/../users/public/42",
      "/%2e%2e/users/public/42",
      "/users\\public\\42",
      "/users/public\\42",
    ]) {
      expect(await ask(get(path) + host)).toMatchObject({ status: 200, body });
    }
  });

  test("may be bytes that are not UTF-8", async () => {
    for (const path of ["/\u00ff\u00fe", "/users/\u00c0\u00af", "/docs/\u0080"]) {
      expectErrorShape(await ask(get(path) + host), 404);
    }
    for (const q of ["\u00ff\u00fe", "ab\u00c0\u00af", "\u00ed\u00a0\u0080ab"]) {
      expect([200, 400]).toContain((await ask(get(search + q) + host)).status);
    }
    for (const q of ["%ff%fe", "ab%c0%af", "%ed%a0%80ab"]) {
      const { status, body } = await ask(get(search + q) + host);
      expect([status, body]).toEqual([200, '{"success":true,"users":[]}']);
    }
  });
});

describe("request smuggling: a body is never parsed as a request", () => {
  const hidden = `GET /health HTTP/1.1\r\n${host}\r\n`;
  const length = hidden.length;

  test.each([
    ["Content-Length with Transfer-Encoding", "Content-Length: 5\r\nTransfer-Encoding: chunked"],
    ["two Content-Length headers", `Content-Length: 0\r\nContent-Length: ${length}`],
    ["a space before the colon of Transfer-Encoding", "Transfer-Encoding : chunked"],
  ])("canary: %s is rejected", async (_, lines) => {
    for (const head of [asked, posted]) {
      await expectRefusal(400, `${head}${lines}\r\n\r\n0\r\n\r\n${hidden}`, lastRequest);
    }
  });

  test("canary: a request inside a body is ignored", async () => {
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${chunk(hidden)}0\r\n\r\n`;
    for (const body of [`Content-Length: ${length}\r\n\r\n${hidden}`, chunked]) {
      expect(statusesOf((await send(posted + body, lastRequest)).responses)).toEqual([405, 200]);
    }
  });
});

test("canary: clients that send nothing, or a byte a second, are disconnected", () => slow);

async function disconnectSlowClients(): Promise<void> {
  const target = await openExecutable([]);
  const before = peakMegabytes(target.pid);
  const silent = (await dialMany(target, 2700)).map(closed);
  const dripping = await dialMany(target, 300);
  const received = dripping.map(readAll);
  const head = `${asked}X-Slow: ${"x".repeat(1000)}`;
  let at = 0;
  const drip = setInterval(() => {
    for (const socket of dripping) if (socket.writable) socket.write(head.charAt(at));
    at++;
  }, 1000);
  await whileServingOthers(target, () => Promise.all([...silent, ...received]));
  clearInterval(drip);
  expect(at).toBeLessThan(head.length);
  for (const { responses } of await Promise.all(received)) expect(responses).toEqual([]);
  expectBounded(target.pid, before);
  await target.close();
}
