/**
 * Hostile clients over TCP always get a response or a clean close. Memory stays bounded, and other
 * clients are still served.
 *
 * Bun parses HTTP and tests its own parser. Tests marked "canary" only detect whether an upgrade of
 * Bun weakens its most important protections: against requests hidden in bodies, huge heads and
 * bodies, and pipelining. All other tests cover Roadbook's own code.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LONG_LIST, longDataset, makeSnapshot } from "../datasets.ts";
import {
  closed,
  converse,
  dial,
  dialMany,
  exchange,
  holdUnread,
  lastRequest,
  type RawResponse,
  readAll,
  whileServingOthers,
} from "../sockets.ts";
import { fixture, megabytesOf, openExecutable, openLogged, until } from "../support.ts";

const MEGABYTE = 1_000_000;
/** An attack may use as much memory as normal traffic does, plus garbage not yet collected. */
const BOUND_MEGABYTES = 150;

const profile = "/users/public/42";
const host = "Host: a.example\r\n";
const get = (path: string) => `GET ${path} HTTP/1.1\r\n`;
const asked = get(profile) + host;
const posted = `POST ${profile} HTTP/1.1\r\n${host}`;

let server: Awaited<ReturnType<typeof openExecutable>>;
beforeAll(async () => {
  const snapshot = await makeSnapshot(fixture);
  server = await openExecutable(["--snapshot", snapshot, "--search-limit", "0"]);
});
afterAll(() => server.close());

/** Sends one request, and returns its response. */
async function ask(head: string, target = server): Promise<RawResponse> {
  const bytes = Buffer.from(`${head}Connection: close\r\n\r\n`, "latin1");
  const { responses, rest } = await converse(target, bytes);
  expect([responses.length, rest]).toEqual([1, ""]);
  return responses[0] as RawResponse;
}

const statusesOf = (responses: RawResponse[]) => responses.map(({ status }) => status);

/**
 * Expects an error without a body, or no response. Bun closes the connection without reading
 * everything, so the system may drop the response.
 */
async function expectRefusal(status: number, ...parts: string[]) {
  const { responses, rest } = await exchange(server, ...parts);
  expect([[], [status]]).toContainEqual(statusesOf(responses));
  expect([rest, responses.map(({ body }) => body).join("")]).toEqual(["", ""]);
}

async function expectCode(expected: string, path: string) {
  const { body } = await ask(get(path) + host);
  expect([path, JSON.parse(body)]).toEqual([
    path,
    { success: false, error: { code: expected, message: expect.any(String) } },
  ]);
}

/** Starts a server for an attack, and fails if the attack takes too much memory. */
async function attack(
  act: (target: typeof server, check: () => void) => Promise<void>,
  ...flags: string[]
) {
  const target = await openExecutable(flags);
  const before = megabytesOf(target.pid, "VmHWM");
  const check = () => {
    expect(megabytesOf(target.pid, "VmHWM") - before).toBeLessThan(BOUND_MEGABYTES);
  };
  await act(target, check);
  check();
  await target.close();
}

test.each([
  ["a query of a megabyte", get(`/search/users?q=${"a".repeat(MEGABYTE)}`) + host],
  ["a thousand header lines", asked + "X: y\r\n".repeat(1000)],
])("canary: %s is rejected", (_, head) => expectRefusal(431, `${head}\r\n`, lastRequest));

test("canary: a method that Bun does not know gets no response, and any other is a 405", async () => {
  const unknown = await exchange(server, `FOO ${profile} HTTP/1.1\r\n${host}\r\n`);
  expect(unknown).toEqual({ responses: [], rest: "" });
  for (const method of ["PURGE", "PROPFIND", "QUERY", "LINK"]) {
    expect((await ask(`${method} ${profile} HTTP/1.1\r\n${host}`)).status).toBe(405);
  }
});

const hidden = `GET /health HTTP/1.1\r\n${host}\r\n`;
const smuggled = `\r\n\r\n0\r\n\r\n${hidden}`;

test.each([
  ["Content-Length with Transfer-Encoding", "Content-Length: 5\r\nTransfer-Encoding: chunked"],
  ["two Content-Length headers", `Content-Length: 0\r\nContent-Length: ${hidden.length}`],
  ["a space before the colon of Transfer-Encoding", "Transfer-Encoding : chunked"],
])("canary: %s is rejected, and nothing in it is a request", async (_, lines) => {
  for (const head of [asked, posted])
    await expectRefusal(400, head + lines + smuggled, lastRequest);
});

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

// Bun may close the connection if the last request arrives before it has responded to the first.
test("canary: a chunked body is discarded, even if it looks like a request", () =>
  attack(async (target) => {
    const body = `${chunk(hidden)}${chunk("x".repeat(MEGABYTE)).repeat(10)}0\r\n\r\n`;
    const head = `${posted}Transfer-Encoding: chunked\r\n\r\n`;
    const clients = Array.from({ length: 20 }, () => converse(target, head, body, lastRequest));
    const received = await whileServingOthers(target, () => Promise.all(clients));
    const statuses = received.map(({ responses }) => statusesOf(responses));
    for (const each of statuses) expect([[], [405], [405, 200]]).toContainEqual(each);
    expect(statuses.flat()).toContain(405);
  }));

/** Repeats a text up to almost the maximum length of a request head. */
const filled = (piece: string) => piece.repeat(Math.floor(15_000 / piece.length));
const search = "/search/users?q=";

// NFC normalization of the first one used to take minutes.
test.each<[string, string, string?]>([
  ["marks out of order", `${search}a${filled("%CC%81%CC%96")}`],
  ["parameter names that are not UTF-8", `/search/users?${filled("%&")}`],
  ["percent signs in a path", `/users/public/${filled("%25")}`],
  ["commas in Accept-Encoding", profile, `Accept-Encoding: ${filled(",")}`],
  ["tags in If-None-Match", profile, `If-None-Match: ${filled('"",')}`],
  ["commas in X-Forwarded-For", `${search}ab`, `X-Forwarded-For: ${filled(",")}`],
])("a request with 15 KB of %s is not slow", async (_, path, header = "X: y") => {
  expect([200, 400]).toContain((await ask(`${get(path)}${host}${header}\r\n`)).status);
});

describe("memory stays bounded, and others are served, with", () => {
  test("a thousand unfinished heads of 200 KB", () =>
    attack(async (target) => {
      const sockets = await dialMany(target, 1000);
      for (const [at, socket] of sockets.entries()) {
        socket.on("error", () => {});
        socket.write(`${asked}X-Slow: ${"x".repeat(200_000)}`);
        // A response here means that the server has read the earlier heads.
        if (at % 10 === 0) expect((await target.fetch(profile)).status).toBe(200);
      }
      for (const socket of sockets) socket.destroy();
    }));

  test("clients that pipeline two thousand requests for 4 MB without reading", () =>
    attack(async (target, check) => {
      const path = "/docs/scalar.js";
      const whole = await ask(get(path) + host, target);
      await whileServingOthers(target, async () => {
        const sockets = await dialMany(target, 10);
        for (const socket of sockets) {
          socket.pause();
          socket.write(`${get(path)}${host}\r\n`.repeat(2000));
        }
        // Time in which a server that buffers responses without a limit would exceed the bound.
        await Bun.sleep(500);
        check();
        for (const { responses } of await Promise.all(sockets.map(readAll))) {
          expect(responses.every(({ bytes }) => whole.bytes.equals(bytes))).toBe(true);
        }
      });
    }));

  // So many that a copy of the response for each would exceed the bound.
  test.each<[string, number, (at: number) => string]>([
    ["the largest asset", 100, () => "/docs/scalar.js"],
    ["achievements", 800, (at) => `/users/${at + 1}/achievements`],
  ])("connections that never read: %s", async (_, count, pathOf) => {
    const snapshot = await makeSnapshot(longDataset(801));
    const headOf = (at: number) => `${get(pathOf(at))}${host}\r\n`;
    await attack(
      async (target, check) => {
        const sockets = await holdUnread(target, count, headOf, check);
        const { achievements } = await (await target.fetch("/users/1/achievements")).json();
        expect(achievements).toHaveLength(LONG_LIST);
        expect((await (await target.fetch("/docs/scalar.js")).bytes()).length).toBeGreaterThan(4e6);
        for (const socket of sockets) socket.destroy();
      },
      "--snapshot",
      snapshot,
    );
  });
});

/**
 * So many wait in vain if turns do not work, and few enough for the queue of a stopped server, which
 * accepts 512 connections later. An accepted one that is idle for 10 s would be closed.
 */
const MANY = 250;
/** Waits for a turn and costs little, so that all are served within 10 s on a busy machine. */
const DRAWING = "/avatars/42.svg";

/** Sends what `act` sends while the server is stopped, and returns the routes in its log. */
async function routesAfter(act: (target: typeof server) => Promise<unknown>): Promise<string[]> {
  const target = await openLogged(["--access-log", "--trusted-proxy", "127.0.0.1"]);
  await act(target);
  await target.close();
  const routes = target.log().matchAll(/"route":(?:"([^"]*)"|null)/g);
  return [...routes].map(([, route = "refused"]) => route);
}

test("behind a proxy, clients take turns, and one with too many requests gets 503s", async () => {
  const routes = await routesAfter(async (target) => {
    process.kill(target.pid, "SIGSTOP");
    const sockets = await dialMany(target, MANY);
    const other = await dial(target);
    const received = sockets.map(readAll);
    const head = (path: string, client: string) =>
      `${get(path)}${host}X-Forwarded-For: ${client}\r\nConnection: close\r\n\r\n`;
    for (const socket of sockets) socket.write(head(DRAWING, "192.0.2.1"));
    await until(() => sockets.every(({ writableLength }) => writableLength === 0));
    other.write(head("/", "192.0.2.2"));
    process.kill(target.pid, "SIGCONT");
    expect(statusesOf((await readAll(other)).responses)).toEqual([200]);
    const responses = (await Promise.all(received)).flatMap(({ responses }) => responses);
    const refused = responses.filter(({ status }) => status === 503);
    expect(new Set(statusesOf(responses))).toEqual(new Set([200, 503]));
    expect(responses.length).toBe(sockets.length);
    expect(refused.length).toBeLessThanOrEqual(sockets.length - 200);
    for (const { head, body } of refused) {
      expect(head).toMatch(/^retry-after: 1\r$/m);
      expect(JSON.parse(body).error.code).toBe("unavailable");
    }
  });
  const before = routes.slice(0, routes.indexOf("/"));
  expect(before.filter((route) => route === "/avatars/:file").length).toBeLessThan(200);
});

test("behind a proxy, hundreds of clients of one IPv6 /48 do not hold up another client", async () => {
  const routes = await routesAfter(async (target) => {
    process.kill(target.pid, "SIGSTOP");
    const sockets = await dialMany(target, MANY);
    const other = await dial(target);
    const received = sockets.map(readAll);
    const head = (path: string, client: string) =>
      `${get(path)}${host}X-Forwarded-For: ${client}\r\nConnection: close\r\n\r\n`;
    for (const [at, socket] of sockets.entries())
      socket.write(head(DRAWING, `2001:db8:1:${at.toString(16)}::1`));
    await until(() => sockets.every(({ writableLength }) => writableLength === 0));
    other.write(head("/", "2001:db8:2::1"));
    process.kill(target.pid, "SIGCONT");
    expect(statusesOf((await readAll(other)).responses)).toEqual([200]);
    const responses = (await Promise.all(received)).flatMap(({ responses }) => responses);
    expect(new Set(statusesOf(responses))).toEqual(new Set([200]));
  });
  const before = routes.slice(0, routes.indexOf("/"));
  expect(before.filter((route) => route === "/avatars/:file").length).toBeLessThan(200);
});

test("pages for clients that have left are not made", async () => {
  const routes = await routesAfter(async (target) => {
    process.kill(target.pid, "SIGSTOP");
    const sockets = await dialMany(target, 300);
    for (const socket of sockets) socket.end(`${get("/drivers/42")}${host}\r\n`);
    await until(() => sockets.every(({ writableFinished }) => writableFinished));
    process.kill(target.pid, "SIGCONT");
    await Promise.all(sockets.map(closed));
    await converse(target, lastRequest);
  });
  expect(routes).toEqual(["/health"]);
});

// Bun closes a connection if a second request arrives before it has responded to the first. So the
// responses may end early, but those that are sent are complete and in order.
test("thousands of pipelined requests do not hold up another client", async () => {
  const routes = await routesAfter(async (target) => {
    const socket = await dial(target);
    const other = await dial(target);
    const received = readAll(socket);
    // While the server is stopped, all requests of one client arrive, and then one of another.
    process.kill(target.pid, "SIGSTOP");
    const heads = Array.from({ length: 3000 }, (_, at) => `${asked}X-Request-Id: ${at}\r\n`);
    socket.write(`${heads.join("\r\n")}Connection: close\r\n\r\n`);
    await until(() => socket.writableLength === 0);
    other.write(`${get("/users/46/achievements")}${host}Connection: close\r\n\r\n`);
    process.kill(target.pid, "SIGCONT");
    expect(statusesOf((await readAll(other)).responses)).toEqual([200]);
    const { responses, rest } = await received;
    const ids = responses.map(({ head }) => Number(/^x-request-id: (\d+)$/m.exec(head)?.[1]));
    expect([ids, rest]).toEqual([responses.map((_, at) => at), ""]);
  });
  const before = routes.slice(0, routes.indexOf("/users/:userId/achievements"));
  // Without a budget, the server handles all 2,500 requests that it can read at once.
  expect(before.length).toBeLessThan(1000);
});

const oddHosts = ["", " ", "a b", "u:p@h?q#f", "a/search/users?q=no#", "\u00ff\u00fe"].concat(
  String.raw`a:99999 a:b [::1 [::1]:80:80 a@b a/../../x a\b <script>" {}|^${"`"} %41 %zz xn--a
    1.2.3.4.5 999999999999 . ? # a nas a.example`.split(/\s+/),
);

test("with any host, the response is correct and has valid avatar URLs", async () => {
  for (const name of [...oddHosts, "a".repeat(10_000)]) {
    for (const path of ["/users/public/45", "/api/search/users?q=nowak"]) {
      const head = `HEAD ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
      const { rest } = await converse(server, Buffer.from(head, "latin1"));
      expect(rest).toStartWith("HTTP/1.1 200 OK\r\n");
      const { status, body } = await ask(`${get(path)}Host: ${name}\r\n`);
      expect([name, status]).toEqual([name, 200]);
      const { user, users = [user] } = JSON.parse(body);
      expect(users[0].avatar_url).toMatch(/^http:\/\/[^/]+\/avatars\/45\.png$/);
      expect(URL.canParse(users[0].avatar_url)).toBe(true);
    }
  }
});

test("the host is optional in HTTP/1.0 and required in HTTP/1.1", async () => {
  const { responses } = await exchange(server, `GET ${profile} HTTP/1.0\r\n\r\n`);
  expect(statusesOf(responses)).toEqual([200]);
  await expectRefusal(400, `${get(profile)}\r\n`, lastRequest);
});

test("no variation of the path or host evades the search limit", async () => {
  const snapshot = await makeSnapshot(fixture);
  // With `--featured`, the start page does not already contain the search result.
  const flags = ["--search-limit", "1", "--featured", "42"];
  const target = await openExecutable(["--snapshot", snapshot, ...flags]);
  const found = await target.fetch("/search/users?q=nowak");
  expect([found.status, await found.text()]).toEqual([200, expect.stringContaining("Anna")]);
  const variations = String.raw`SEARCH /apiSEARCH /x/..SEARCH /search/./users?q=nowak /%2eSEARCH
    /%2e%2eSEARCH /search\users?q=nowak \search\users?q=nowak /search/users#?q=nowak
    /search%2fusers?q=nowak /search/us%65rs?q=nowak /search/users/?q=nowak /SEARCH
    /s?xxxxxxxxxxx&q=nowak&/search/users? /?xxxxxxxxxxxxx&q=nowak&/search/users? SEARCH&/search/users
    SEARCH&:// http://aSEARCH http://SEARCH http://a:99999SEARCH http://a/x/..SEARCH
    http:///x/..SEARCH http://a://bSEARCH /a://bSEARCH /sea${"\t"}rch/users?q=nowak`
    .split(/[ \n]+/)
    .map((path) => path.replace("SEARCH", "/search/users?q=nowak"));
  const outcomes = new Set<string>();
  for (const name of oddHosts) {
    for (const variation of variations) {
      const head = `${get(variation)}Host: ${name}\r\n`;
      const { status, body } = await ask(head, target);
      // Requests for the page itself are not limited, but the page's searches are.
      const isPage = body.startsWith("<!doctype html>");
      const isWrong = (status === 200 && !isPage) || status === 500 || body.includes("Anna");
      if (isWrong) outcomes.add(`${status} for ${JSON.stringify(head)}`);
    }
  }
  expect([...outcomes]).toEqual([]);
  await target.close();
});

test("paths that lead nowhere are a 404", async () => {
  const nowhere = String.raw`// /% /%zz //users/public/42 /users//public/42
      /users/public/42/ /users%2fpublic%2f42 /users/public/42%2f /users/public/%2e%2e%2f42
      /drivers/4%2f2 /avatars/4%2f2.svg /%75sers/public/42 /api/api/users/public/42
      /API/users/public/42 /../../etc/passwd /..%2f..%2fetc%2fpasswd /..\..\etc\passwd
      /docs/scalar.js%00.html /docs/%ff /$bunfs/root/demo.snapshot`.split(/\s+/);
  for (const path of [...nowhere, "/\u00ff\u00fe", "/docs/\u0080"]) {
    await expectCode("route_not_found", path);
  }
});

test("paths with characters after a user id are a 400", async () => {
  for (const end of ["%00", "%ff", ";x", "%23x", "%20", "%2e%2e", "\u00ff"]) {
    await expectCode("invalid_user_id", profile + end);
  }
});

// Bun does not expose the raw request target, only a URL in which backslashes become slashes.
test("paths have dot segments and backslashes resolved, and no fragment, as in any URL", async () => {
  const { body } = await ask(asked);
  const dots = ["/./users/public/42", "/%2e%2e/users/public/42"];
  for (const path of [...dots, "/users\\public\\42", "/users/public/42#x"]) {
    expect(await ask(get(path) + host)).toMatchObject({ status: 200, body });
  }
});
