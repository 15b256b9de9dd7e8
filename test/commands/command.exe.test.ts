/** The executable's command line. The executable is alone in its folder. */
import { describe, expect, test } from "bun:test";
import { chmodSync, cpSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { storeUrl } from "../../src/setting-kinds.ts";
import {
  community,
  executable,
  importByExecutable,
  openExecutable,
  readyOrigin,
  roadbook,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

test("the executable serves the demo in an empty folder and environment, and leaves no files", async () => {
  const folder = temporaryFolder();
  cpSync(await executable(), join(folder, "roadbook"));
  // Bun itself would read these files.
  writeFileSync(join(folder, ".env"), "ROADBOOK_PORT=1\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./nothing.ts"]\n');
  const child = Bun.spawn(["./roadbook", "--port", "0"], {
    cwd: folder,
    env: {},
    stdout: "pipe",
    stderr: "pipe",
  });
  const origin = await readyOrigin(child.stdout);
  expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
  expect((await fetch(`${origin}/docs/scalar.js`)).headers.get("content-type")).toStartWith(
    "text/javascript",
  );
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(readdirSync(folder).sort()).toEqual([".env", "bunfig.toml", "roadbook"]);
}, 60_000);

describe("flags, environment variables and defaults", () => {
  test("a flag overrides its variable, and the variable overrides the default", async () => {
    const snapshot = await importByExecutable(community);
    const child = Bun.spawn([await executable(), "--port", "0", "--search-limit", "7"], {
      cwd: temporaryFolder(),
      env: { ROADBOOK_PORT: "1", ROADBOOK_SNAPSHOT: snapshot, ROADBOOK_SEARCH_WINDOW: "90s" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const origin = await readyOrigin(child.stdout);
    const { headers } = await fetch(`${origin}/search/users?q=nowak`);
    expect(headers.get("ratelimit-policy")).toBe('"search";q=7;w=90');
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
  });

  test("--search-limit 0 removes the limit and its headers", async () => {
    const target = await openExecutable(["--search-limit", "0"]);
    for (let at = 0; at < 40; at++) {
      const { status, headers } = await target.fetch("/search/users?q=an");
      expect([status, headers.get("ratelimit")]).toEqual([200, null]);
    }
    await target.close();
  });

  test("a rejected client may search again after Retry-After", async () => {
    const target = await openExecutable(["--search-limit", "2", "--search-window", "1s"]);
    const statuses = [];
    for (let at = 0; at < 3; at++) statuses.push((await target.fetch("/search/users?q=an")).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await target.fetch("/search/users?q=an");
    expect(refused.headers.get("retry-after")).toBe("1");
    await Bun.sleep(1000);
    expect((await target.fetch("/search/users?q=an")).status).toBe(200);
    await target.close();
  });
});

describe("a usage error prints one clear line and exits with 2", () => {
  const importUsage = "usage: roadbook import SOURCE --to FILE [flags]";
  test.each([
    [["fly"], 'unknown command "fly"; see roadbook --help'],
    [["serv", "--port", "0"], 'unknown command "serv"; did you mean serve?'],
    [["exprt", "--help"], 'unknown command "exprt"; did you mean export?'],
    [["help", "chek"], 'unknown command "chek"; did you mean check?'],
    [["a\nb"], 'unknown command "a b"; see roadbook --help'],
    [["--prot", "1"], "unknown flag --prot; did you mean --port?"],
    [["--prot=1"], "unknown flag --prot; did you mean --port?"],
    [["-p", "1"], "unknown flag -p; see roadbook serve --help"],
    [["import", "a", "--too", "b"], "unknown flag --too; did you mean --to?"],
    [["--access-log=1"], "--access-log takes no value"],
    [["serve", "extra"], "too many arguments; usage: roadbook serve [flags]"],
    [["--", "--port"], "too many arguments; usage: roadbook serve [flags]"],
    [["--port"], "--port needs a value; see roadbook serve --help"],
    [["--host", "--port", "1"], "--host needs a value; see roadbook serve --help"],
    [["--port", "abc"], '--port must be a whole number from 0 to 65535, got "abc"'],
    [["--port", "65536"], '--port must be a whole number from 0 to 65535, got "65536"'],
    [["--port", "0x50"], '--port must be a whole number from 0 to 65535, got "0x50"'],
    [["--port", "080"], '--port must be a whole number from 0 to 65535, got "080"'],
    [
      ["--search-limit", "1e3"],
      '--search-limit must be a whole number from 0 to 1000000, got "1e3"',
    ],
    [["--search-limit", "-1"], '--search-limit must be a whole number from 0 to 1000000, got "-1"'],
    [
      ["--search-window", "3x"],
      '--search-window must be a duration from 1ms to 24d, such as 1h, 30m, 2s or 500ms, got "3x"',
    ],
    [
      ["--cache-max-age", "500ms"],
      '--cache-max-age must be a duration in whole seconds, such as 5m or 300, got "500ms"',
    ],
    [["--kiosk", "--no-page"], "--kiosk and --no-page are mutually exclusive"],
    [
      ["--snapshot", "ftp://user:sesame@a/b"],
      "--snapshot must be a file or an https://, http:// or s3:// URL",
    ],
    [
      ["--public-url", "example.org"],
      '--public-url must be an http or https URL without a query, such as https://example.org, got "example.org"',
    ],
    [
      ["--log-level", "loud"],
      '--log-level must be one of trace, debug, info, warn, error, fatal, silent, got "loud"',
    ],
    [
      ["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "10.0.0.0/33"],
      '--trusted-proxy must be an IP address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32, got "10.0.0.0/33"',
    ],
    [["--tls-cert", "a.pem"], "--tls-cert and --tls-key must be given together"],
    [["import", "--to", "a"], `SOURCE is missing; ${importUsage}`],
    [["import", "a"], `--to is missing; ${importUsage}`],
    [["import", "a", "b", "--to", "c"], `too many arguments; ${importUsage}`],
    [["seed"], "--users is missing; usage: roadbook seed --users N [flags]"],
    [
      ["health", "nowhere"],
      'URL must be an http or https URL without a query, such as https://example.org, got "nowhere"',
    ],
  ])("%j", async (args, line) => {
    expect(await roadbook(args)).toEqual({ code: 2, stdout: "", stderr: `roadbook: ${line}\n` });
  });

  test.each([
    [["--host", ""], {}, "--host must not be empty"],
    [["--admin-host="], {}, "--admin-host must not be empty"],
    [["import", "", "--to", "a"], {}, "SOURCE must not be empty"],
    [["import", "a", "--to", ""], {}, "--to must not be empty"],
    [["--trusted-proxy", "::1,"], {}, "--trusted-proxy must not be empty"],
    [[], { ROADBOOK_HOST: "" }, "ROADBOOK_HOST must not be empty"],
    [[], { ROADBOOK_ADMIN_HOST: "" }, "ROADBOOK_ADMIN_HOST must not be empty"],
    [[], { ROADBOOK_ACCESS_LOG: "" }, "ROADBOOK_ACCESS_LOG must not be empty"],
    [[], { ROADBOOK_ACCESS_LOG: "yes" }, 'ROADBOOK_ACCESS_LOG must be 1 or 0, got "yes"'],
    [[], { ROADBOOK_PORT: "1k" }, 'ROADBOOK_PORT must be a whole number from 0 to 65535, got "1k"'],
    [
      [],
      { ROADBOOK_TRUSTED_PROXY: "10.0.0.0/8,x" },
      'ROADBOOK_TRUSTED_PROXY must be an IP address or a CIDR, such as 10.0.0.0/8 or 2001:db8::/32, got "x"',
    ],
    [["export", "a"], { ROADBOOK_TO: "" }, "ROADBOOK_TO must not be empty"],
  ])("an empty value or an invalid variable: %j %j", async (args, env, line) => {
    const outcome = await roadbook(args, { env: env as Record<string, string> });
    expect(outcome).toEqual({ code: 2, stdout: "", stderr: `roadbook: ${line}\n` });
  });
});

describe("no message shows the store's URL, which may contain a password", () => {
  const kind = "redis://, rediss:// or valkey:// URL";
  const folder = temporaryFolder();
  const file = join(folder, "store");
  writeFileSync(file, "http://user:sesame@host\n");
  test.each([
    [
      ["--rate-limit-store", "http://user:sesame@host"],
      {},
      2,
      `--rate-limit-store must be a ${kind}`,
    ],
    [[], { ROADBOOK_RATE_LIMIT_STORE: "sesame" }, 2, `ROADBOOK_RATE_LIMIT_STORE must be a ${kind}`],
    [
      ["--rate-limit-stor=redis://:sesame@host"],
      {},
      2,
      "unknown flag --rate-limit-stor; did you mean --rate-limit-store?",
    ],
  ])("%j %j", async (args, env, code, line) => {
    const outcome = await roadbook(args, { env: env as Record<string, string> });
    expect(outcome).toEqual({ code, stdout: "", stderr: `roadbook: ${line}\n` });
  });

  test("the help does not show the URL", async () => {
    const env = { ROADBOOK_RATE_LIMIT_STORE: "redis://:sesame@host" };
    const { stdout } = await roadbook(["serve", "--help"], { env });
    expect(stdout).not.toContain("sesame");
  });
});

test.each([
  ["a missing file", "nothing", /^roadbook: nothing cannot be read: no such file or directory\n$/],
  ["a dataset", community, /is a dataset, not a Roadbook snapshot; make one with roadbook import /],
  ["an empty file", "empty", /^roadbook: empty is empty\n$/],
  ["a text file", "text", /^roadbook: text is not a Roadbook snapshot\n$/],
  ["a folder", ".", /^roadbook: \. cannot be read: not a regular file\n$/],
])("serving %s as a snapshot prints one clear line and exits with 1", async (_, snapshot, line) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "empty"), "");
  writeFileSync(join(folder, "text"), "x".repeat(10_000));
  const { code, stdout, stderr } = await roadbook(["--snapshot", snapshot], { cwd: folder });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd()).not.toContain("\n");
});

describe("an unusable address prints one line that says what to do", () => {
  const resolving = "cannot resolve host name nope.invalid; choose another with --host";
  const elsewhere = "203.0.113.7 is not an address of this machine; choose another with";
  test.each([
    [["--host", "nope.invalid"], resolving],
    [["--host", "203.0.113.7"], `${elsewhere} --host`],
    [["--admin-host", "203.0.113.7", "--admin-port", "0"], `${elsewhere} --admin-host`],
  ])("%j", async (args, line) => {
    const outcome = await roadbook([...args, "--port", "0"]);
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: `roadbook: ${line}\n` });
  });

  test("a port in use", async () => {
    const target = await openExecutable([]);
    const { port } = new URL(target.origin);
    for (const flag of ["--port", "--admin-port"]) {
      const { code, stderr } = await roadbook(["--port", "0", flag, port]);
      const line = `port ${port} on 127.0.0.1 is already in use; choose another with ${flag}`;
      expect([code, stderr]).toEqual([1, `roadbook: ${line}\n`]);
    }
    await target.close();
  });

  // In some containers, any user may listen on any port.
  const first = Bun.spawnSync(["cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start"]).stdout;
  test.if(Number(first) === 1024)("a port below 1024 without root", async () => {
    const nobody = ["setpriv", "--reuid=65534", "--clear-groups"];
    const program = join(temporaryFolder(), "roadbook");
    cpSync(await executable(), program);
    chmodSync(dirname(program), 0o755);
    const as = process.getuid?.() === 0 ? nobody : [];
    const { code, stderr } = await run([...as, "./roadbook", "--port", "80"], {
      cwd: dirname(program),
      env: {},
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^roadbook: port 80 on 127\.0\.0\.1 needs root .*; choose another with --port\n$/,
      ),
    ]);
  });
});

test("for every flag that takes a time, a number without a unit is in seconds", async () => {
  const seconds = ["--cache-max-age", "5m", "--search-window", "90", "--shutdown-timeout", "10"];
  const target = await openExecutable(seconds);
  const { headers } = await target.fetch("/search/users?q=an");
  expect(headers.get("cache-control")).toBe("private, max-age=300");
  expect(headers.get("ratelimit-policy")).toBe('"search";q=30;w=90');
  await target.close();
});

test("SIGTERM ends the server even if clients keep their connections open", async () => {
  const target = await openExecutable([]);
  const { hostname, port } = new URL(target.origin);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  socket.write("GET /health HTTP/1.1\r\nHost: a.example\r\n\r\n");
  await until(() => received.length > 0);
  await target.close();
  socket.destroy();
  expect(Buffer.concat(received).toString()).toStartWith("HTTP/1.1 200 OK\r\n");
}, 20_000);

const commandNames = [
  "serve",
  "import",
  "apply",
  "export",
  "check",
  "seed",
  "schema",
  "openapi",
  "health",
];

describe("the help", () => {
  test("lists every command on standard output", async () => {
    const help = await roadbook(["--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    for (const name of commandNames) expect(help.stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    for (const args of [["-h"], ["help"], ["help", "help"], ["help", "--help"]]) {
      expect(await roadbook(args)).toEqual(help);
    }
  });

  test.each(commandNames)(
    "for %s is the same in all three forms and ignores invalid variables",
    async (name) => {
      const help = await roadbook([name, "--help"]);
      expect([help.code, help.stderr]).toEqual([0, ""]);
      expect(help.stdout).toStartWith(`Usage: roadbook ${name}`);
      expect(await roadbook(["help", name])).toEqual(help);
      expect(await roadbook([name, "-h"], { env: { ROADBOOK_PORT: "", ROADBOOK_TO: "" } })).toEqual(
        help,
      );
    },
  );

  test("fits 80 columns", async () => {
    for (const args of [[], ...commandNames.map((name) => [name])]) {
      const { stdout } = await roadbook([...args, "--help"]);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test("for serve has groups and shows defaults", async () => {
    const { stdout } = await roadbook(["serve", "--help"]);
    const groups = [...stdout.matchAll(/^(\w.*):$/gm)].map(([, title]) => title);
    expect(groups).toEqual([
      "Snapshot",
      "Responses",
      "Page",
      "Search limit",
      "Network",
      "Logs and metrics",
      "Fault injection, for tests",
      "Help",
    ]);
    expect(stdout).toMatch(/--search-window TIME .*\n.*\(default: 1h\)/);
  });
});

test.each(["--version", "-V"])("%s prints the version", async (flag) => {
  const { code, stdout } = await roadbook([flag]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^roadbook \d+\.\d+\.\d+\n$/)]);
});

describe("flags and variables together", () => {
  const env = {
    ROADBOOK_PORT: "1",
    ROADBOOK_HOST: "",
    ROADBOOK_PROT: "2",
    ROADBOOK_ACCESS_LOG: "true",
    ROADBOOK_TRUSTED_PROXY: "10.0.0.0/8, 127.0.0.1",
  };

  async function serve(args: string[]) {
    const child = Bun.spawn([await executable(), ...args], {
      env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const origin = await readyOrigin(child.stdout);
    const headers = { "x-forwarded-for": "192.0.2.7" };
    await fetch(`${origin}/search/users?q=an`, { headers });
    child.kill("SIGTERM");
    const log = await new Response(child.stderr).text();
    expect(await child.exited).toBe(0);
    return log;
  }

  test("a flag overrides its variable, even if the variable is invalid, and the last flag wins", async () => {
    const log = await serve(["--port", "1", "--host", "127.0.0.1", "--port", "0"]);
    expect(log).toContain('"msg":"request"');
    expect(log).toContain('"client":"192.0.2.7"');
    expect(log).toContain('"variable":"ROADBOOK_PROT"');
    expect(log.match(/"variable"/g)).toHaveLength(1);
  });

  test("repeated flags add up to a list, which replaces the variable's list", async () => {
    const host = ["--port", "0", "--host", "127.0.0.1"];
    const log = await serve([...host, "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"]);
    expect(log).toContain('"client":"127.0.0.1"');
  });
});

test("-- ends the flags", async () => {
  const { code, stderr } = await roadbook(["check", "--", "--port"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("--port cannot be read")]);
});

describe("standard output", () => {
  const snapshotFile = "s";
  const commands = [
    "--version",
    "--help",
    "help import",
    "openapi",
    "schema",
    "seed --users 5000",
    `export ${snapshotFile}`,
    `check ${snapshotFile}`,
  ];
  const writers = [`import ${community} --to t`, `apply ${community} --to ${snapshotFile}`];
  const folder = temporaryFolder();
  const shell = async (script: string) =>
    run(["bash", "-c", script], { cwd: folder, env: { roadbook: await executable() } });

  test("setup", async () => {
    expect(await shell(`$roadbook import ${community} --to ${snapshotFile}`)).toMatchObject({
      code: 0,
    });
  });

  test.each(commands)(
    "%s to a full disk prints one clear line and exits with 1",
    async (command) => {
      expect(await shell(`$roadbook ${command} >/dev/full`)).toEqual({
        code: 1,
        stdout: "",
        stderr: "roadbook: cannot write to standard output: no space left on device\n",
      });
    },
  );

  test.each([...commands, ...writers])("%s to a closed pipe is not an error", async (command) => {
    const script = `$roadbook ${command} | true; echo \${PIPESTATUS[0]}`;
    expect(await shell(script)).toEqual({ code: 0, stdout: "0\n", stderr: "" });
  });
});

describe("health", () => {
  const healthy = '{"success":true}';

  /** Starts a server that has only these paths. */
  function open(bodies: Record<string, [number, string]>) {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const [status, body] = bodies[new URL(request.url).pathname] ?? [404, "nothing here"];
        return new Response(body, { status });
      },
    });
    return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
  }

  test.each([
    ["", "/health"],
    ["/", "/health"],
    ["//", "/health"],
    ["/health", "/health"],
    ["/health/", "/health"],
    ["/roadbook", "/roadbook/health"],
    ["/roadbook/", "/roadbook/health"],
    ["/a/b/health", "/a/b/health"],
    ["/healthy", "/healthy/health"],
  ])("URL%s requests %s", async (given, path) => {
    const server = open({ [path]: [200, healthy] });
    const { code, stdout, stderr } = await roadbook(["health", server.origin + given]);
    expect([code, stdout, stderr]).toEqual([0, `${healthy}\n`, ""]);
    server.stop();
  });

  test("the host name health is not mistaken for the path", async () => {
    const { code, stderr } = await roadbook(["health", "http://health:1"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^roadbook: no response from http:\/\/health:1\/health: .*\n$/),
    ]);
  });

  test.each([
    ["an error", [500, "a\n  b"], "500: a b"],
    ["an unhealthy Roadbook", [503, '{"success":false}'], '503: {"success":false}'],
  ] as const)("reports %s in one clear line and exits with 1", async (_, [status, body], line) => {
    const server = open({ "/health": [status, body] });
    const { code, stdout, stderr } = await roadbook(["health", server.origin]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(`roadbook: ${server.origin}/health responded with ${line}\n`);
    server.stop();
  });

  test.each([
    ["a page", [200, `<p>${"x".repeat(999)}`], `200: <p>${"x".repeat(197)}`],
    ["other JSON", [200, "[]"], "200: []"],
    ["a 404", [404, "Not Found"], "404: Not Found"],
  ] as const)(
    "a server that responds with %s is not a Roadbook",
    async (_, [status, body], line) => {
      const server = open({ "/health": [status, body] });
      const { code, stderr } = await roadbook(["health", server.origin]);
      const url = `${server.origin}/health`;
      expect([code, stderr]).toEqual([
        1,
        `roadbook: no Roadbook at ${url}: it responded with ${line}\n`,
      ]);
      server.stop();
    },
  );

  test("accepts the flags and variables of serve, and fails if no server responds", async () => {
    const target = await openExecutable([]);
    const { port, host } = new URL(target.origin);
    for (const [args, env] of [
      [[target.origin], {}],
      [["--port", port], {}],
      [[], { ROADBOOK_PORT: port }],
    ] as [string[], Record<string, string>][]) {
      const { code, stdout } = await roadbook(["health", ...args], { env });
      expect([code, JSON.parse(stdout).success]).toEqual([0, true]);
    }
    await target.close();
    const { code, stderr } = await roadbook(["health", `http://user:sesame@${host}`]);
    expect([code, stderr]).toEqual([
      1,
      `roadbook: no response from ${target.origin}/health: connection refused\n`,
    ]);
  });
});

test("queries with raw bytes, and requests with a missing or unusual Host, get a response", async () => {
  const target = await openExecutable([]);
  const { port } = new URL(target.origin);
  const raw = async (head: string) => {
    const { stdout } = await run([
      "bash",
      "-c",
      `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${head}' >&3; timeout 2 cat <&3`,
    ]);
    return stdout;
  };
  expect(
    await raw(
      "GET /search/users?q=m\\xc3\\xbc HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n",
    ),
  ).toContain('"success":');
  expect(await raw("GET /users/public/42 HTTP/1.0\\r\\n\\r\\n")).toContain("Nowak");
  for (const host of ["a", "nas", "nas:80", "[::1]"]) {
    const response = await raw(
      `GET /users/public/42 HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n`,
    );
    expect(response).toContain("Nowak");
  }
  await target.close();
}, 20_000);

test("openapi prints the same document as the server", async () => {
  const target = await openExecutable([]);
  const served = await (await target.fetch("/docs/json")).text();
  const { code, stdout } = await roadbook(["openapi", "--public-url", target.origin]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(served));
  const { servers } = JSON.parse((await roadbook(["openapi"])).stdout);
  expect(servers[0].url).toBe("http://127.0.0.1:3000");
  await target.close();
});

/** Creates a certificate and its key for a host name, and returns their paths. */
async function makeCertificate(name: string) {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1".split(" ");
  const files = ["-subj", `/CN=${name}`, "-out", cert, "-keyout", key];
  expect((await run(["openssl", ...kind, ...files])).code).toBe(0);
  return { cert, key };
}

describe("--tls-cert and --tls-key", () => {
  test("serve HTTPS", async () => {
    const { cert, key } = await makeCertificate("localhost");
    const target = await openExecutable(["--tls-cert", cert, "--tls-key", key]);
    expect(target.origin).toStartWith("https://127.0.0.1:");
    const response = await fetch(`${target.origin}/users/public/42`, {
      tls: { rejectUnauthorized: false },
    });
    expect(await response.text()).toContain("Nowak");
    const plain = await fetch(target.origin.replace("https", "http")).catch(() => undefined);
    expect(plain?.ok).not.toBe(true);
    await target.close();
  });

  test("report an invalid file in one line that names it", async () => {
    const [a, b] = [await makeCertificate("a.example"), await makeCertificate("b.example")];
    for (const [cert, key, line] of [
      ["nothing.pem", a.key, "nothing.pem cannot be read: "],
      [a.cert, "nothing.pem", "nothing.pem cannot be read: "],
      [a.key, a.key, `${a.key} does not contain a PEM certificate\n`],
      [a.cert, a.cert, `${a.cert} does not contain an unencrypted PEM private key\n`],
      [a.cert, b.key, `the private key in ${b.key} does not match the certificate in ${a.cert}\n`],
    ] as const) {
      const { code, stdout, stderr } = await roadbook(["--tls-cert", cert, "--tls-key", key]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toStartWith(`roadbook: ${line}`);
      expect(stderr.trimEnd()).not.toContain("\n");
    }
  });
});

test("a signal right after the ready line is not lost", async () => {
  for (let times = 0; times < 10; times++) {
    const child = Bun.spawn([await executable(), "--port", "0"], {
      env: {},
      stdout: "pipe",
      stderr: "ignore",
    });
    await readyOrigin(child.stdout);
    child.kill("SIGHUP");
    child.kill("SIGTERM");
    expect([await child.exited, child.signalCode]).toEqual([0, null]);
  }
});

test("the shutdown timeout or a second signal cuts off responses that no client reads", async () => {
  for (const [flag, time, signals] of [
    ["--shutdown-timeout", "300ms", 1],
    ["--shutdown-timeout", "1h", 2],
  ] as const) {
    const child = Bun.spawn([await executable(), "--port", "0", flag, time], {
      env: {},
      stdout: "pipe",
      stderr: "ignore",
    });
    const { hostname, port } = new URL(await readyOrigin(child.stdout));
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.pause();
    // Requests more data than the system can buffer, and never reads the responses.
    socket.write("GET /docs/scalar.js HTTP/1.1\r\nHost: a.example\r\n\r\n".repeat(20));
    const request = () => fetch(`http://${hostname}:${port}/health`).catch(() => undefined);
    expect((await request())?.status).toBe(200);
    for (let at = 0; at < signals; at++) {
      child.kill("SIGTERM");
      await until(async () => !(await request()));
    }
    expect(await child.exited).toBe(0);
    socket.destroy();
  }
}, 20_000);

test("an import shows its progress on a terminal, but not in a pipe", async () => {
  const folder = temporaryFolder();
  const command = `${await executable()} import ${community} --to s`;
  const terminal = await run(["script", "-qec", command, "/dev/null"], { cwd: folder });
  expect(terminal.stdout).toMatch(/\r.*[█░]{30} \d+ %/);
  expect(terminal.stdout).toEndWith("to s\r\n");
  const pipe = await run(["sh", "-c", command], { cwd: folder });
  expect([pipe.stderr, pipe.stdout]).toEqual([
    "",
    expect.stringMatching(/^imported [^\r█]* to s\n$/),
  ]);
});

describe("a store's URL", () => {
  test.each([
    "redis://127.0.0.1",
    "redis://user:p%40ss@store.example:6380/2",
    "rediss://:secret@store.example",
    "valkey://[::1]:6379",
  ])("%p is valid", (url) => {
    expect(storeUrl.parse(url, {})).toBe(url);
  });

  test.each([
    "",
    "redis://",
    "store.example:6379",
    "http://:secret@store.example",
    "redis://:secret@:6379",
    "redis://:sec ret@store example",
    "redis://:12/secret@store.example",
    "redis://user:12/secret@store.example",
    "redis://user:secret/34@store.example",
    "redis://store.example:6379/secret",
    "redis://user:12#secret@store.example",
    "redis://user:12?secret@store.example",
  ])("%p is invalid", (url) => {
    expect(() => storeUrl.parse(url, {})).toThrow("must be a redis://, rediss:// or valkey:// URL");
  });
});
