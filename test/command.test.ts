/** The command as an operator uses it: the executable alone in an empty folder. */
import { describe, expect, test } from "bun:test";
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import {
  community,
  executable,
  importByExecutable,
  openExecutable,
  readyOrigin,
  roadbook,
  run,
  temporaryFolder,
} from "./support.ts";

test("it serves the demo from an empty folder with an empty environment, and leaves nothing there", async () => {
  const folder = temporaryFolder();
  cpSync(await executable(), join(folder, "roadbook"));
  // Settings of other programs that lie about are not its own.
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

describe("flags, environment, defaults", () => {
  test("a flag goes before the environment, the environment before the default", async () => {
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

  test("--search-limit 0 is no limit and no headers of one", async () => {
    const target = await openExecutable(["--search-limit", "0"]);
    for (let at = 0; at < 40; at++) {
      const { status, headers } = await target.fetch("/search/users?q=an");
      expect([status, headers.get("ratelimit")]).toEqual([200, null]);
    }
    await target.close();
  });

  test("a short window slides: a refused client gets in after Retry-After, and not before the oldest leaves", async () => {
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

describe("wrong usage is one clear line and exit code 2", () => {
  test.each([
    [["fly"], 'there is no command "fly"; see roadbook --help'],
    [["--prot", "1"], "Unknown option '--prot'; see roadbook serve --help"],
    [["serve", "extra"], "usage: roadbook serve"],
    [["--port"], "Option '--port <value>' argument missing; see roadbook serve --help"],
    [["--port", "abc"], '--port (or ROADBOOK_PORT) is "abc", not a whole number from 0 to 65535'],
    [
      ["--port", "65536"],
      '--port (or ROADBOOK_PORT) is "65536", not a whole number from 0 to 65535',
    ],
    [["--search-limit", "-1"], "Option '--search-limit' argument is ambiguous"],
    [
      ["--search-limit=-1"],
      '--search-limit (or ROADBOOK_SEARCH_LIMIT) is "-1", not a whole number from 0 to 1000000',
    ],
    [
      ["--search-window", "3"],
      '--search-window (or ROADBOOK_SEARCH_WINDOW) is "3", not a time of 1ms to 24d, such as 1h, 30m, 2s or 500ms',
    ],
    [
      ["--public-url", "example.org"],
      '--public-url (or ROADBOOK_PUBLIC_URL) is "example.org", not an http or https URL without query, such as https://example.org',
    ],
    [
      ["--log-level", "loud"],
      '--log-level (or ROADBOOK_LOG_LEVEL) is "loud", not trace, debug, info, warn, error, fatal, silent',
    ],
    [
      ["--rate-limit-store", "http://user:sesame@host"],
      "--rate-limit-store (or ROADBOOK_RATE_LIMIT_STORE) is not a redis://, rediss:// or valkey:// URL",
    ],
    [
      ["--trusted-proxy", "10.0.0.0/33"],
      '--trusted-proxy (or ROADBOOK_TRUSTED_PROXY) is "10.0.0.0/33", not an address or a CIDR',
    ],
    [["--tls-cert", "a.pem"], "--tls-cert and --tls-key go together"],
    [["import"], "usage: roadbook import DATASET --to FILE"],
    [["import", "a"], "--to is missing; usage: roadbook import DATASET --to FILE"],
    [["import", "a", "b", "--to", "c"], "usage: roadbook import DATASET --to FILE"],
    [["health", "nowhere"], '"nowhere" is not an http or https URL'],
  ])("%j", async (words, line) => {
    const { code, stdout, stderr } = await roadbook(words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toStartWith(`roadbook: ${line}`);
    expect(stderr.trimEnd()).not.toContain("\n");
  });
});

test.each([
  ["a snapshot that is not there", "nothing", /^roadbook: nothing cannot be read: /],
  ["an empty file", "empty", /^roadbook: empty is empty\n$/],
  ["a text", "text", /^roadbook: text is not a Roadbook snapshot\n$/],
  ["a folder", ".", /^roadbook: \. cannot be read: /],
])("%s is not served: one clear line and exit code 1", async (_, snapshot, line) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "empty"), "");
  writeFileSync(join(folder, "text"), "x".repeat(10_000));
  const { code, stdout, stderr } = await roadbook(["--snapshot", snapshot], { cwd: folder });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd()).not.toContain("\n");
});

test("a port that is taken is one clear line and exit code 1", async () => {
  const target = await openExecutable([]);
  const { port } = new URL(target.origin);
  const { code, stderr } = await roadbook(["--port", port]);
  expect(code).toBe(1);
  expect(stderr).toStartWith(`roadbook: cannot listen on 127.0.0.1 port ${port}: `);
  await target.close();
});

test("SIGTERM answers what is under way, though clients keep their connections open", async () => {
  const target = await openExecutable([]);
  const { hostname, port } = new URL(target.origin);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  socket.write("GET /health HTTP/1.1\r\nHost: a.example\r\n\r\n");
  while (received.length === 0) await Bun.sleep(5);
  await target.close();
  socket.destroy();
  expect(Buffer.concat(received).toString()).toStartWith("HTTP/1.1 200 OK\r\n");
}, 20_000);

test("help and version answer, on standard output", async () => {
  const help = await roadbook(["--help"]);
  expect([help.code, help.stderr]).toEqual([0, ""]);
  for (const word of ["serve", "import DATASET --to FILE", "health [URL]", "openapi"]) {
    expect(help.stdout).toContain(word);
  }
  expect((await roadbook(["serve", "--help"])).stdout).toContain("--search-window TIME");
  expect((await roadbook(["--version"])).stdout).toMatch(/^roadbook \d+\.\d+\.\d+\n$/);
});

test("health asks a running server, and fails when there is none", async () => {
  const target = await openExecutable([]);
  const well = await roadbook(["health", target.origin]);
  expect([well.code, JSON.parse(well.stdout).success]).toEqual([0, true]);
  const { port } = new URL(target.origin);
  expect((await roadbook(["health", "--port", port])).code).toBe(0);
  await target.close();
  const { code, stderr } = await roadbook(["health", target.origin]);
  expect([code, stderr]).toEqual([1, `roadbook: no answer from ${target.origin}/health\n`]);
});

test("a name with a quote, raw bytes and a client without a Host get clean answers", async () => {
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
    const answer = await raw(
      `GET /users/public/42 HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n`,
    );
    expect(answer).toContain("Nowak");
  }
  await target.close();
}, 20_000);

test("a query of 200,000 characters is no error, finds nothing and keeps nobody waiting", async () => {
  const target = await openExecutable([]);
  const find = async (text: string) => {
    const response = await target.fetch(`/search/users?q=${text}`);
    return [response.status, await response.json()];
  };
  for (const text of ["a".repeat(200_000), "ab+".repeat(60_000)]) {
    expect(await find(text)).toEqual([200, { success: true, users: [] }]);
  }
  expect(await find(`${"%20".repeat(60_000)}an`)).toEqual(await find("an"));
  await target.close();
});

test("openapi prints the document that is served", async () => {
  const target = await openExecutable([]);
  const served = await (await target.fetch("/docs/json")).text();
  const { code, stdout } = await roadbook(["openapi"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(served));
  await target.close();
});

/** The paths of a certificate and its key, made for a host of that name. */
async function makeCertificate(name: string) {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1".split(" ");
  const files = ["-subj", `/CN=${name}`, "-out", cert, "-keyout", key];
  expect((await run(["openssl", ...kind, ...files])).code).toBe(0);
  return { cert, key };
}

describe("--tls-cert and --tls-key", () => {
  test("serve https", async () => {
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

  test("say in one line which file is wrong", async () => {
    const [one, other] = [await makeCertificate("a.example"), await makeCertificate("b.example")];
    for (const [cert, key, line] of [
      ["nothing.pem", one.key, "nothing.pem cannot be read: "],
      [one.cert, "nothing.pem", "nothing.pem cannot be read: "],
      [one.key, one.key, `${one.key} holds no certificate (PEM)\n`],
      [one.cert, one.cert, `${one.cert} holds no private key (PEM, without a passphrase)\n`],
      [
        one.cert,
        other.key,
        `the key in ${other.key} is not that of the certificate in ${one.cert}\n`,
      ],
    ] as const) {
      const { code, stdout, stderr } = await roadbook(["--tls-cert", cert, "--tls-key", key]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toStartWith(`roadbook: ${line}`);
      expect(stderr.trimEnd()).not.toContain("\n");
    }
  });
});

test("a signal right after the ready line is heeded", async () => {
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

test("the end of the grace, or a second signal, ends what never ends", async () => {
  for (const [grace, signals] of [
    ["300ms", 1],
    ["1h", 2],
  ] as const) {
    const child = Bun.spawn([await executable(), "--port", "0", "--grace", grace], {
      env: {},
      stdout: "pipe",
      stderr: "ignore",
    });
    const { hostname, port } = new URL(await readyOrigin(child.stdout));
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write("GET /health HTTP/1.1\r\nHost: a.example\r\n"); // and no more of it
    await Bun.sleep(100);
    for (let at = 0; at < signals; at++) {
      child.kill("SIGTERM");
      await Bun.sleep(100);
    }
    expect(await child.exited).toBe(0);
    socket.destroy();
  }
}, 20_000);

test("an import shows how far it is on a terminal, and nothing of it in a pipe", async () => {
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
