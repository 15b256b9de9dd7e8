/**
 * Tests the rules in src/http/README.md from a client's perspective, both in this process and in
 * the executable.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createRoadbook } from "../../src/roadbook.ts";
import { makeSnapshot, runSql } from "../datasets.ts";
import { fixture, isQuick, openExecutable, openInProcess, type Target } from "../support.ts";

const json = "application/json; charset=utf-8";

const openers = {
  "in process": (limit: number) =>
    openInProcess({ dataset: fixture, searchLimit: limit, page: true }),
  "the executable": async (limit: number) =>
    openExecutable(["--snapshot", await makeSnapshot(fixture), "--search-limit", String(limit)]),
};

describe.each(Object.entries(openers).slice(0, isQuick ? 1 : undefined))("%s", (_, open) => {
  let target: Target;
  beforeAll(async () => {
    target = await open(0);
  });
  afterAll(() => target.close());

  const get = async (path: string, init?: RequestInit) => {
    const response = await target.fetch(path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  test.each([
    [
      "/users/public/42",
      '{"success":true,"user":{"id":42,"name":"Łukasz Nowak","avatar_url":"https://cdn.example/a/42.png","company":{"id":3,"name":"Baltic Express","role":"Owner"},"roles":[{"id":2,"name":"Moderator","hierarchy":50},{"id":1,"name":"Driver","hierarchy":10},{"id":3,"name":"Helper","hierarchy":10}],"created_at":"2021-05-01T10:00:00Z"}}',
    ],
    [
      "/users/public/9007199254740991",
      '{"success":true,"user":{"id":9007199254740991,"name":"Ann","avatar_url":"ORIGIN/avatars/ann.png","company":null,"roles":[],"created_at":"2000-01-01T00:30:00Z"}}',
    ],
    [
      "/users/42/achievements",
      '{"success":true,"achievements":[{"achievement":{"id":8,"name":"“Łódź” <b>&","description":"","icon":"x.svg","type":"city","tier":3,"points":0},"tier":3,"unlocked_at":"2024-03-10T00:00:00Z"},{"achievement":{"id":7,"name":"Night Owl","description":"Drive through the night.","icon":"night-owl.svg","type":"distance","tier":1,"points":25},"tier":2,"unlocked_at":"2024-03-09T17:05:00Z"},{"achievement":{"id":9,"name":"Early Bird","description":"Up at four.","icon":"bird.svg","type":"time","tier":1,"points":5},"tier":1,"unlocked_at":"2024-03-09T17:05:00Z"}]}',
    ],
    ["/users/45/achievements", '{"success":true,"achievements":[]}'],
    [
      "/search/companies?q=express",
      '{"success":true,"companies":[{"id":4,"name":"Express","member_count":2},{"id":5,"name":"Express Łódź","member_count":900},{"id":3,"name":"Baltic Express","member_count":41},{"id":6,"name":"Northern Expressway","member_count":7}]}',
    ],
    [
      "/search/users?q=ann",
      '{"success":true,"users":[{"id":9007199254740991,"name":"Ann","avatar_url":"ORIGIN/avatars/ann.png","company":null},{"id":45,"name":"Anna Nowak","avatar_url":"ORIGIN/avatars/45.png","company":null}]}',
    ],
    ["/search/users?q=sekret", '{"success":true,"users":[]}'],
    ["/search/companies?q=%CC%81%CC%81", '{"success":true,"companies":[]}'],
    // Both words occur in "Anna Nowak", so 400 code points find her.
    [
      `/search/users?q=${"an+".repeat(132)}nowa`,
      '{"success":true,"users":[{"id":45,"name":"Anna Nowak","avatar_url":"ORIGIN/avatars/45.png","company":null}]}',
    ],
    [`/search/users?q=${"an+".repeat(132)}nowak`, '{"success":true,"users":[]}'],
    ...[`${"x".repeat(5000)}`, "%zz", "%ff%fe", "a%00%", "%ED%A0%80", "baltik%"].map(
      (q) => [`/search/companies?q=${q}`, '{"success":true,"companies":[]}'] as const,
    ),
  ])("%s has exactly the documented fields, in the documented order", async (path, expected) => {
    for (const prefix of ["", "/api"]) {
      const { status, headers, text } = await get(prefix + path);
      expect(text).toBe(expected.replaceAll("ORIGIN", target.origin));
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe(json);
    }
  });

  const wrongIds = "0 -1 042 4e1 4.0 12345678901234567 abc %34%32%20 %zz %ff ٤٢";
  const wrongQueries = " ?q= ?q=%20x%20 ?q=e%CC%81 ?q=%F0%9F%9A%9A ?q=ab&q=c ?Q=abc ?q[]=abc";
  test.each([
    ...wrongIds.split(" ").map((id) => [`/users/public/${id}`, 400, "invalid_user_id"] as const),
    ...wrongQueries.split(" ").map((q) => [`/search/users${q}`, 400, "invalid_query"] as const),
    ["/users/x/achievements", 400, "invalid_user_id"],
    ["/search/companies?q=x", 400, "invalid_query"],
    ["/users/public/43", 403, "profile_private"],
    ["/users/43/achievements", 403, "profile_private"],
    ["/users/public/46", 404, "user_not_found"],
    ["/users/9999999999999999/achievements", 404, "user_not_found"],
    ["/users/46/achievements", 404, "user_not_found"],
    ["/nope", 404, "route_not_found"],
    ["/users/public/", 404, "route_not_found"],
    ["/api", 404, "route_not_found"],
  ] as const)("%s is a %d %s", async (path, status, code) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe(json);
    const body = JSON.parse(response.text);
    expect(body).toEqual({ success: false, error: { code, message: expect.any(String) } });
    expect(body.error.message).not.toMatch(/Sekret|\/src\/|SELECT|node_modules/);
  });

  test("the message of an invalid query says whether q is missing or too short", async () => {
    const messageOf = async (query: string) => {
      const { text } = await get(`/search/users${query}`);
      return JSON.parse(text).error.message;
    };
    for (const query of ["", "?", "?query=anna", "?q[]=anna", "?Q=anna", "?user=1&query=q"]) {
      expect([query, await messageOf(query)]).toEqual([query, expect.stringContaining("missing")]);
    }
    for (const query of ["?q", "?q=", "?q=x", "?q=anna&q=x", "?q=%20&query=anna"]) {
      expect([query, await messageOf(query)]).toEqual([
        query,
        expect.stringContaining("must have"),
      ]);
    }
  });

  test("q is form-decoded, and other parameters are ignored", async () => {
    const expected = (await get("/search/companies?q=baltic%20express")).text;
    expect(JSON.parse(expected).companies).toHaveLength(1);
    for (const query of [
      "?q=baltic+express",
      "?x=1&q=Baltic%20%20Express&y=%zz",
      "?%71=b%61ltic+express",
      "?q=x&%71=ann&q=baltic%20express",
    ]) {
      expect((await get(`/search/companies${query}`)).text).toBe(expected);
    }
  });

  test.each([
    ["q=%41nna", "Anna"],
    ["q=%FFanna", "%FFanna"],
    ["q=%C3%A9%zz", "%C3%A9%zz"],
    ["q=x&q=a+n%", "a n%"],
    ["%71=%ED%A0%80anna", "%ED%A0%80anna"],
    ["%zz=1&q=an%2Ana", "an*na"],
    ["q=anna&q", ""],
  ])("?%s means %p to the page and to the API", async (query, meant) => {
    const page = (await get(`/?${query}`)).text;
    expect(/<input id="q"[^>]* value="([^"]*)"/.exec(page)?.[1] ?? "").toBe(meant);
    const found = (await get(`/search/users?${query}`)).text;
    expect((await get(`/search/users?q=${encodeURIComponent(meant)}`)).text).toBe(found);
  });

  const responding = [
    "/users/public/42",
    "/api/users/42/achievements",
    "/search/users?q=ann",
  ].concat(["/users/public/43", "/health", "/docs", "/docs/json", "/"]);

  test.each(responding)("HEAD %s is GET without the body", async (path) => {
    const headers = { "accept-encoding": "identity" };
    const one = await get(path, { headers });
    const head = await get(path, { headers, method: "HEAD" });
    expect([head.status, head.text]).toEqual([one.status, ""]);
    // Bun omits Date for HEAD.
    one.headers.delete("date");
    for (const [name, value] of one.headers) {
      const varies = /^(x-request-id|content-length|connection)$/.test(name);
      expect([name, head.headers.get(name)]).toEqual([name, varies ? expect.anything() : value]);
    }
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(one.text)));
  });

  test.each(responding)("%s supports GET, HEAD and OPTIONS only", async (path) => {
    const allow = "GET, HEAD, OPTIONS";
    const options = await get(path.replace(/\?.*/, ""), { method: "OPTIONS" });
    expect([options.status, options.text]).toEqual([204, ""]);
    expect(Object.fromEntries(options.headers)).toMatchObject({
      allow,
      "access-control-allow-origin": "*",
      "access-control-allow-methods": allow,
      "access-control-allow-headers": "*",
      "access-control-max-age": "86400",
    });
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status, headers, text } = await get(path, { method });
      expect([status, headers.get("allow")]).toEqual([405, allow]);
      expect(JSON.parse(text).error.code).toBe("method_not_allowed");
      expect((await get("/nope", { method })).status).toBe(404);
    }
  });

  test.each(["/", "/drivers/43", "/docs"])(
    "%s is a page that loads nothing from other servers",
    async (path) => {
      const page = await get(path, { headers: { accept: "text/html" } });
      expect(page.headers.get("content-type")).toStartWith("text/html");
      // A canonical link loads nothing, and the dataset may put avatars anywhere.
      const text = page.text.replace(/<link rel="canonical" [^>]*>|<\/svg><img [^>]*>/g, "");
      expect(text).not.toMatch(/(src|href)="?(https?:)?\/\//);
    },
  );

  test.each([
    ["/drivers/43", "text/html,application/xml;q=0.9,*/*;q=0.8", 403, "text/html"],
    ["/drivers/43", "application/json;q=0.5, text/html", 403, "text/html"],
    ["/drivers/43", "application/json, text/html;q=0.1", 403, "application/json"],
    ["/drivers/43", "*/*", 403, "application/json"],
    ["/nope", "text/html", 404, "text/html"],
    ["/nope", "*/*", 404, "application/json"],
    ["/api/nope", "text/html", 404, "application/json"],
    ["/drivers/4%2f2", "text/html", 404, "text/html"],
  ])("%s, to a client that accepts %j, is a %d as %s", async (path, accept, expected, type) => {
    const { status, headers } = await get(path, { headers: { accept } });
    expect([status, headers.get("content-type")]).toEqual([expected, `${type}; charset=utf-8`]);
  });

  test("only public drivers and known achievements have drawings", async () => {
    expect((await get("/avatars/42.svg")).text).toContain(">ŁN</text>");
    expect((await get("/icons/night-owl.svg")).text).toStartWith("<svg");
    const paths = ["/avatars/43.svg", "/avatars/999.svg", "/avatars/42.gif", "/icons/nothing.svg"];
    const statuses = await Promise.all(paths.map(async (path) => (await get(path)).status));
    expect(statuses).toEqual([403, 404, 404, 404]);
  });

  describe("the search limit", () => {
    let limited: Target;
    beforeAll(async () => {
      limited = await open(5);
    });
    afterAll(() => limited.close());

    test("counts only GET and HEAD of both searches, including those that get a 400", async () => {
      const left = async (path: string, init?: RequestInit) => {
        const { headers } = await limited.fetch(path, init);
        return headers.get("x-ratelimit-remaining");
      };
      expect(await left("/search/users?q=ann")).toBe("4");
      expect(await left("/api/search/companies?q=ex")).toBe("3");
      expect(await left("/search/users?q=x")).toBe("2");
      expect(await left("/users/public/42")).toBeNull();
      expect(await left("/health")).toBeNull();
      await limited.fetch("/search/users", { method: "OPTIONS" });
      await limited.fetch("/search/users", { method: "POST" });
      expect(await left("/search/users?q=ann", { method: "HEAD" })).toBe("1");

      const last = await limited.fetch("/search/users?q=ann");
      expect(last.headers.get("ratelimit-policy")).toBe('"search";q=5;w=3600');
      expect(last.headers.get("ratelimit")).toMatch(/^"search";r=0;t=3(600|59\d)$/);
      expect(last.headers.get("x-ratelimit-limit")).toBe("5");
      const reset = Number(last.headers.get("x-ratelimit-reset")) - Date.now() / 1000;
      expect(reset).toBeWithin(3500, 3602);

      const refused = await limited.fetch("/api/search/users?q=ann");
      expect(refused.status).toBe(429);
      expect(refused.headers.get("ratelimit")).toStartWith('"search";r=0;t=');
      const retry_after = Number(refused.headers.get("retry-after"));
      expect(retry_after).toBeWithin(3500, 3601);
      const { error } = await refused.json();
      expect(error).toMatchObject({ code: "rate_limited", retry_after });
      expect((await limited.fetch("/users/public/42")).status).toBe(200);
    });
  });
});

test("scripts of other origins may read every header", async () => {
  // Scripts may always read some of these. The others are for browsers and robots only.
  const other =
    /^(access-control-.*|cache-control|content-type|vary|x-content-type-options|x-robots-tag)$/;
  await using roadbook = await createRoadbook({ dataset: fixture, searchLimit: 1 });
  for (const expected of [200, 429]) {
    const request = new Request("http://a.test/search/users?q=ann");
    const { status, headers } = await roadbook.fetch(request, "192.0.2.1");
    expect(status).toBe(expected);
    const exposed = headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
    for (const name of headers.keys()) if (!other.test(name)) expect(exposed).toContain(name);
  }
});

test.each([
  ["https", "api.example.org", "https://api.example.org"],
  ["https", "api.example.org:443", "https://api.example.org"],
  ["http, https", "evil.example, api.example.org", "https://api.example.org"],
  ["https", undefined, "https://internal:3000"],
  [undefined, "[2001:db8::1]:81", "http://[2001:db8::1]:81"],
  ["ftp", "api.example.org/x?", "http://internal:3000"],
  ["https", "api.example.org:99999", "https://internal:3000"],
  [undefined, "1.2.3.4.5", "http://internal:3000"],
  ["https", "[::1]:80:80", "https://internal:3000"],
])(
  "a proxy that forwards %p and %p sets the origin to %s, if trusted",
  async (proto, host, origin) => {
    const options = { dataset: fixture, searchLimit: 0, page: true };
    await using roadbook = await createRoadbook({ ...options, trustedProxies: ["10.0.0.1"] });
    const headers = new Headers({ accept: "text/html, */*;q=0.1" });
    if (proto) headers.set("x-forwarded-proto", proto);
    if (host) headers.set("x-forwarded-host", host);
    for (const path of ["/users/public/45", "/search/users?q=anna", "/docs/json", "/drivers/45"]) {
      const url = `http://internal:3000${path}`;
      const textFor = async (peer: string) =>
        (await roadbook.fetch(new Request(url, { headers }), peer)).text();
      const link = path === "/docs/json" ? '"' : "/avatars/45.png";
      expect(await textFor("10.0.0.1")).toContain(origin + link);
      expect(await textFor("10.0.0.2")).toContain(`http://internal:3000${link}`);
    }
  },
);

const generated = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const unsafe = ["", "two words", "a,b", '"', "<b>", "x".repeat(129), "\u00fc"];

test("X-Request-Id is generated, except for a trusted proxy's id that is safe to log", async () => {
  for (const trustedProxies of [[], ["10.0.0.0/8"], ["192.0.2.1"]]) {
    await using roadbook = await createRoadbook({ dataset: [], trustedProxies });
    const idOf = async (given: string) => {
      const request = new Request("http://a.test/nope", { headers: { "x-request-id": given } });
      return (await roadbook.fetch(request, "192.0.2.1")).headers.get("x-request-id") ?? "";
    };
    for (const safe of ["mine", "7f3a:1/2=+~.@_-", "x".repeat(128)]) {
      if (trustedProxies[0] === "192.0.2.1") expect(await idOf(safe)).toBe(safe);
      else expect(await idOf(safe)).toMatch(generated);
    }
    for (const given of unsafe) expect(await idOf(given)).toMatch(generated);
    expect(await idOf("<b>")).not.toBe(await idOf("<b>"));
  }
});

test("avatar URLs keep the host name, even a short one, of each request", async () => {
  await using roadbook = await createRoadbook({ dataset: fixture });
  for (const origin of ["http://a", "https://nas:8443"]) {
    const url = `${origin}/users/public/45`;
    const text = await (await roadbook.fetch(new Request(url))).text();
    expect(JSON.parse(text).user.avatar_url).toBe(`${origin}/avatars/45.png`);
    const head = await roadbook.fetch(new Request(url, { method: "HEAD" }));
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  }
});

test("the fragment of a URL, which a browser would not send, is no part of the path or the query", async () => {
  await using roadbook = await createRoadbook({ dataset: fixture, page: true });
  for (const path of ["/users/public/45", "/search/users?q=ann", "/health", "/drivers/45"]) {
    const load = async (url: string) => (await roadbook.fetch(new Request(url))).text();
    const url = `http://localhost${path}`;
    expect(await load(`${url}#a/b?q=c#d`)).toBe(await load(url));
  }
});

test("a URL of another scheme or with too long a host is local: http://localhost", async () => {
  await using roadbook = await createRoadbook({ dataset: fixture, page: true });
  for (const origin of ["foo://bar", "ftp://bar", "ws://bar", `http://${"a.".repeat(150)}a`]) {
    const load = async (path: string) => {
      const response = await roadbook.fetch(new Request(origin + path));
      return { status: response.status, text: await response.text() };
    };
    const { text } = await load("/users/public/45");
    expect(JSON.parse(text).user.avatar_url).toBe("http://localhost/avatars/45.png");
    const page = await load("/drivers/45");
    expect([page.status, page.text.includes("http://localhost/")]).toEqual([200, true]);
  }
});

test("a bug is a 500 that reveals nothing, and onBug gets the error and request id", async () => {
  const bugs: unknown[] = [];
  const snapshot = await makeSnapshot();
  await runSql(snapshot, "UPDATE user SET achievements = '['");
  const target = await openInProcess({
    snapshot,
    onBug: (error, requestId) => bugs.push(requestId, String(error)),
  });
  const response = await target.fetch("/users/42/achievements");
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({
    success: false,
    error: { code: "internal_error", message: expect.stringContaining("X-Request-Id") },
  });
  expect(bugs).toEqual([response.headers.get("x-request-id"), expect.any(String)]);
  await target.close();
});
