/** The command line in this process: usage errors, the help, and commands that fail. */
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedCommand } from "../../src/commands/command.ts";
import { loadCommands, runCommandLine } from "../../src/commands/command-line.ts";
import { formatCommandHelp, formatProgramHelp } from "../../src/commands/help.ts";
import { UsageError } from "../../src/domain/invalid-value.ts";
import { serveSettings } from "../../src/settings/serve-flags.ts";
import { formOf, readValue } from "../../src/settings/setting.ts";
import {
  baseUrl,
  boolean,
  publicBaseUrl,
  resolutionBase,
  storeUrl,
  time,
  timeOrZero,
} from "../../src/settings/value-types.ts";
import { makeSnapshot } from "../datasets.ts";
import { fixture, makeCertificate, root, run, temporaryFolder } from "../support.ts";

const commands = await loadCommands();

const environment = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
});

const port = "must be a whole number from 0 to 65535";
const url = "must be an http or https URL without a query, such as https://example.org";
const openUrl = url.replace("a query", "a query, user name or password");
const cidr = "must be an IP address or CIDR, such as 10.0.0.0/8 or fd00::/8";
const store = "must be a redis://, rediss:// or valkey:// URL";
const importUsage = "usage: roadbook import [SOURCE] --to FILE [flags]";

test.each<[string, Record<string, string>, string]>([
  ["fly", {}, 'unknown command "fly"; see roadbook --help'],
  ["help fly", {}, 'unknown command "fly"; see roadbook --help'],
  ["completion tcsh", {}, 'bash|zsh|fish must be one of bash, zsh, fish, got "tcsh"'],
  ["exprt --help", {}, 'unknown command "exprt"; did you mean export?'],
  ["--prot=1", {}, "unknown flag --prot; did you mean --port?"],
  // The dashes are not among the letters of which half may differ.
  ["--tos=1", {}, "unknown flag --tos; see roadbook serve --help"],
  ["-p 1", {}, "unknown flag -p; see roadbook serve --help"],
  ["--access-log=1", {}, "--access-log takes no value"],
  ["-- --port b", {}, "too many arguments; usage: roadbook serve [FILE] [flags]"],
  ["serve a.snapshot b", {}, "too many arguments; usage: roadbook serve [FILE] [flags]"],
  ["--port", {}, "--port needs a value; see roadbook serve --help"],
  // A value, or a word after --, is no flag.
  ["--title -h --port x", {}, `--port ${port}, got "x"`],
  ["-- -h b", {}, "too many arguments; usage: roadbook serve [FILE] [flags]"],
  ["serve --help=1", {}, "unknown flag --help"],
  ["serve -hX", {}, "unknown flag -h; see roadbook serve --help"],
  ["-psesame", {}, "unknown flag -p; see roadbook serve --help"],
  ["check a -- --json", {}, "too many arguments; usage: roadbook check FILE [flags]"],
  ["--host --port 1", {}, "--host needs a value; see roadbook serve --help"],
  ["--port 65536", {}, `--port ${port}, got "65536"`],
  ["--port 080", {}, `--port ${port}, got "080"`],
  ["--search-window 3x", {}, "--search-window must be a duration from 1ms to 24d, such as 1h,"],
  ["--cache-max-age -1", {}, "--cache-max-age must be 0 or a duration up to 24d, such as 5m"],
  ["--snapshot ftp://u:sesame@a/b", {}, "--snapshot must be a file or an https://, http:// or s3:"],
  ["--public-url example.org", {}, `--public-url ${openUrl}`],
  ["--public-url https://sesame@a", {}, `--public-url ${openUrl}`],
  ["openapi --public-url https://u:sesame@a", {}, `--public-url ${openUrl}`],
  ["--icons https://:sesame@a/", {}, `--icons ${openUrl}/`],
  ["--icons https://cdn.example/i?v=2", {}, `--icons ${openUrl}/`],
  ["--icons https://cdn.example/i#x", {}, `--icons ${openUrl}/`],
  ["import a --to s --avatar-base https://a/?v=2", {}, `--avatar-base ${openUrl}/`],
  ["--driver-link https://{id}/x", {}, "--driver-link must be a URL or path with {id}, such as /u"],
  ["--log-level loud", {}, "--log-level must be one of trace, debug, info, warn, error, fatal, s"],
  ["--trusted-proxy ::1 --trusted-proxy 1.0.0.0/33", {}, `--trusted-proxy ${cidr}, got "1.0.0.0/3`],
  ["--tls-cert a.pem", {}, "--tls-cert and --tls-key must be given together"],
  ["--data a --snapshot b", {}, "--snapshot and --data are mutually exclusive"],
  ["serve", { DATA: "a", SNAPSHOT: "b" }, "--snapshot and --data are mutually exclusive"],
  ["a.csv --data b.csv", {}, "FILE and --data are mutually exclusive"],
  ["a.csv --snapshot b", {}, "FILE and --snapshot are mutually exclusive"],
  ["--kiosk --no-page", {}, "--kiosk and --no-page are mutually exclusive"],
  ["--kiosk", { NO_PAGE: "1" }, "--kiosk and --no-page are mutually exclusive"],
  ["import --to a", {}, `SOURCE is missing; ${importUsage}`],
  ["import a", {}, `--to is missing; ${importUsage}`],
  ["import a b --to c", {}, `too many arguments; ${importUsage}`],
  ["import a --to s3://b/c", {}, "--to must be a file, not a URL or standard output; write a file"],
  ["import a --to -", {}, "--to must be a file, not a URL or standard output; write a file"],
  ["seed --users 1 --to - --tables a", {}, "--to and --tables are mutually exclusive"],
  ["export a --to https://b/c", {}, "--to must be a file, not a URL; write a file and upload it"],
  ["hide --to s", {}, "ID… is missing; usage: roadbook hide ID… --to FILE [flags]"],
  ["hide 1 1,2 --to s", {}, "ID… must be a user's number, got "],
  ["import a --queries q --to s", {}, "SOURCE must be a postgres://"],
  ["import mongodb://u:sesame@h --queries q --to s", {}, "SOURCE must be a postgres://"],
  ["import postgresx://u:sesame@h --queries q --to s", {}, "SOURCE must be a postgres://"],
  ["import mysql://u:se#same@h/d --queries q --to s", {}, "SOURCE must be a postgres://"],
  ["import sqlite: --queries q --to s", {}, "SOURCE must be a postgres://"],
  [
    "import mysql://u:sesame@h --queries q --to s",
    {},
    "SOURCE must name the database, as in mysql:",
  ],
  [
    "import mariadb://u:sesame@h/ --queries q --to s",
    {},
    "SOURCE must name the database, as in my",
  ],
  ["import sqlite:x --queries q --to s --dates dmy", {}, "--dates works only with CSV files"],
  ["import a --to s --dates dmy", {}, "--dates works only with CSV files"],
  ["import a --to s --quotes none", {}, "--quotes works only with CSV files"],
  ["import a.csv --to s --key Name", {}, "--key also needs --id-map FILE"],
  ["import sqlite:x --queries q --to s --id-map m --key n", {}, "--key works only with CSV files"],
  ["import a --to s --quotes both", {}, "--quotes must be one of csv, none"],
  ["import a --to s --dates ymd", {}, '--dates must be one of dmy, mdy, got "ymd"'],
  ["import postgres://u:sesame@h/d --to s", {}, "SOURCE is a database; import it with a folder of"],
  ["import oracle://u:sesame@h/d --to s", {}, "SOURCE must be a file, a folder, - or a postgres:"],
  ["import sqlite:x --queries q --to s --expect-end", {}, "--expect-end works only with NDJSON"],
  ["import a --to s --dry-run --confirm http://a", {}, "a --dry-run cannot be confirmed"],
  ["health nowhere", {}, `URL ${url}`],
  ["health http://u:sesame@a?b", {}, `URL ${url}`],
  // An empty value is an error. It never means the default.
  ["--host ", {}, "--host must not be empty"],
  ["--admin-host=", {}, "--admin-host must not be empty"],
  ["import  --to a", {}, "SOURCE must not be empty"],
  ["--trusted-proxy ::1,", {}, "--trusted-proxy must not be empty"],
  ["", { HOST: "" }, "ROADBOOK_HOST must not be empty"],
  [
    "",
    { KIOSK: "maybe" },
    "ROADBOOK_KIOSK must be 1 or 0, true or false, yes or no, on or off, got ",
  ],
  ["", { PORT: "1k" }, `ROADBOOK_PORT ${port}, got "1k"`],
  ["", { TRUSTED_PROXY: "10.0.0.0/8,x" }, `ROADBOOK_TRUSTED_PROXY ${cidr}, got "x"`],
  ["import --to s", { DATABASE: "" }, "ROADBOOK_DATABASE must not be empty"],
  ["import --to s", { DATABASE: "mysql://u:sesame@h/d" }, "SOURCE is a database; import it with"],
  // No message has a password.
  ["", { RATE_LIMIT_STORE: "sesame" }, `ROADBOOK_RATE_LIMIT_STORE ${store}`],
  ["--rate-limit-store sesame.example:6379", {}, `--rate-limit-store ${store}`],
  ["--rate-limit-store http://:sesame@a", {}, `--rate-limit-store ${store}`],
  ["--rate-limit-store redis://:sesame@:6379", {}, `--rate-limit-store ${store}`],
  ["--rate-limit-store redis://user:12#sesame@a", {}, `--rate-limit-store ${store}`],
  ["--rate-limit-stor=redis://:sesame@h", {}, "unknown flag --rate-limit-stor; did you mean --rat"],
])("%j with %j is a usage error", async (line, env, expected) => {
  for (const [name, value] of Object.entries(env)) process.env[`ROADBOOK_${name}`] = value;
  const error = await runCommandLine(line === "" ? [] : line.split(" ")).catch((error) => error);
  expect(error).toBeInstanceOf(UsageError);
  expect(error.message).toStartWith(expected);
  expect(error.message).not.toContain("sesame");
});

test("a bug is printed with its stack", async () => {
  const program = `
    console.log = undefined;
    process.argv.splice(1, Infinity, "roadbook", "--version");
    await import("./src/main.ts");`;
  const { code, stdout, stderr } = await run([process.execPath, "-e", program], { cwd: root });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^roadbook: bug: TypeError: .+\n +at .*command-line\.ts/);
});

test.each(Object.entries(commands))(
  "the help of %s has its flags and examples",
  (name, command) => {
    const help = formatCommandHelp(name, command);
    expect(formatProgramHelp(commands)).toContain(`\n  ${name} `);
    for (const setting of Object.values(command.settings)) expect(help).toContain(formOf(setting));
    expect(help).toMatch(/\n\nExamples:(\n {2}roadbook .*){2,3}$/);
    for (const line of `${help}\n${formatProgramHelp(commands)}`.split("\n")) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  },
);

test("semicolons separate the links of a variable, and are a part of a flag's", () => {
  const read = (texts: string[] | undefined, env = {}) =>
    readValue(serveSettings.links, texts, env);
  const text = "Shop";
  const url = "https://x.example/a;b=1";
  expect(read([`${text}=${url}`, "Rules=/rules"])).toEqual([
    { text, url },
    { text: "Rules", url: "/rules" },
  ]);
  const env = { ROADBOOK_LINK: "Shop=/shop; Rules=/rules" };
  expect(read(undefined, env)).toEqual([
    { text, url: "/shop" },
    { text: "Rules", url: "/rules" },
  ]);
});

test("commas separate the values of a flag and of a variable", () => {
  const read = (texts: string[] | undefined, env = {}) =>
    readValue(serveSettings.featured, texts, env);
  expect(read(["1, 2", "3"])).toEqual([1, 2, 3]);
  expect(read(undefined, { ROADBOOK_FEATURED: "1,2" })).toEqual([1, 2]);
});

// If the ids were copied for each further one, this would take longer than a test may.
test("hide takes hundreds of thousands of ids", async () => {
  const ids = Array.from({ length: 400_000 }, (_, at) => String(at + 1));
  const hiding = runCommandLine(["hide", ...ids, "x", "--to", "s"]);
  await expect(hiding).rejects.toThrow(
    `ID… must be a user's number, got "x"; a key needs --id-map FILE`,
  );
});

test("the help has groups, defaults and the variables of arguments", () => {
  const [serve = "", imports] = ["serve", "import"].map((name) => {
    return formatCommandHelp(name, commands[name] as LoadedCommand);
  });
  for (const heading of ["Snapshot", "Network", "Page", "Help"]) {
    expect(serve.split(`\n${heading}:\n`)).toHaveLength(2);
  }
  expect(serve).toMatch(/--search-window TIME .*\(default: 1h\)/);
  expect(imports).toMatch(/database URL\s+\(variable:\s+ROADBOOK_DATABASE\)/);
});

test.each([
  ["1 true yes on YES On", true],
  ["0 false no off NO Off", false],
])("in a variable, each of %s is %p", (words, value) => {
  for (const word of words.split(" ")) expect(boolean.parse(word)).toBe(value);
});

test("in every flag that takes a time, a number without a unit is in seconds", () => {
  expect([time.parse("90"), time.parse("90ms")]).toEqual([90_000, 90]);
  expect([timeOrZero.parse("90"), timeOrZero.parse("5m")]).toEqual([90_000, 300_000]);
});

test("a URL is used as it was parsed, without white space, and a base without its last slash", () => {
  for (const text of ["https://example.org/a b\r", " https:example.org/a%20b//\t"]) {
    expect(baseUrl.parse(text)).toBe("https://example.org/a%20b");
    expect(publicBaseUrl.parse(text)).toBe("https://example.org/a%20b");
  }
  expect(baseUrl.parse("http://u:p@a ")).toBe("http://u:p@a");
  expect(publicBaseUrl.parse("http://a//b/o'x/")).toBe("http://a/b/o%27x");
  expect(resolutionBase.parse("https://example.org ")).toBe("https://example.org/");
  expect(resolutionBase.parse("https://example.org/a\n")).toBe("https://example.org/a");
});

test("a store's URL can have a user, a password, a port, a database and an IPv6 address", () => {
  for (const url of ["redis://user:p%40ss@a.example:6380/2", "rediss://:x@a", "valkey://[::1]"]) {
    expect(storeUrl.parse(url)).toBe(url);
  }
});

const failsToServe = (args: string[]) => expect(runCommandLine(["--no-page", ...args])).rejects;

test("FILE, --data and --snapshot override the variables of what they exclude", async () => {
  Object.assign(process.env, { ROADBOOK_DATA: "a", ROADBOOK_SNAPSHOT: "b" });
  const missing = join(temporaryFolder(), "none.csv");
  for (const args of [[missing], ["--data", missing], ["--snapshot", missing]]) {
    await failsToServe(args).toThrow(missing);
  }
});

test("serve fails in one line for an unusable address", async () => {
  const snapshot = ["--snapshot", await makeSnapshot()];
  const hosts = [
    // First, because Bun reports this with the code of the latest failure, if there was one.
    ["nope.invalid", "cannot resolve host name nope.invalid"],
    ["203.0.113.7", "203.0.113.7 is not an address of this machine"],
  ];
  for (const [host = "", problem] of hosts) {
    const line = `${problem}; choose another with --host`;
    await failsToServe([...snapshot, "--host", host]).toThrow(line);
  }
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const inUse = `port ${other.port} on 127.0.0.1 is already in use; choose another with --port`;
  await failsToServe([...snapshot, "--port", String(other.port)]).toThrow(inUse);
  other.stop();
});

test.each([
  [
    "a folder",
    ".",
    "cannot be read: it is a folder; if it has CSV files, build a snapshot with roadb",
  ],
  [
    "users.csv",
    "id,public\n1,1\n",
    "is not a Roadbook snapshot but a CSV file; import its folder, or a name that ends in .csv, into a snapshot",
  ],
  [
    "a dataset",
    '{"type":"user"}\n',
    "is a dataset, not a snapshot; build one with roadbook import",
  ],
  [
    "gzip",
    Bun.gzipSync("x"),
    "is a dataset, not a snapshot; build one with roadbook import DATASET",
  ],
  [
    "an array",
    '[{"type":',
    "is not a Roadbook snapshot but a JSON array; convert it with jq -c '.[]'",
  ],
  [
    "pretty JSON",
    '{\n  "type"',
    "is a dataset, not a snapshot; build one with roadbook import DATASET",
  ],
])("given %s instead of a snapshot, serve names the command that takes it", async (...row) => {
  const [, content, problem] = row;
  const folder = temporaryFolder();
  const path = content === "." ? folder : join(folder, "given.file");
  if (content !== ".") writeFileSync(path, content);
  await expect(runCommandLine(["--snapshot", path])).rejects.toThrow(`${path} ${problem}`);
});

test.each([
  ["seed --users 1 --tables FILE", "cannot write FILE: "],
  ["seed --users 1 --tables FILE/x", "cannot write FILE/x: "],
  ["hide 1 --to FILE/x", "FILE/x cannot be read: "],
])("%s, where a file is no folder, names what cannot be used", async (line, expected) => {
  const path = await makeSnapshot();
  const words = line.replace("FILE", path).split(" ");
  const message = await runCommandLine(words).catch(String);
  expect(message).toContain(expected.replace("FILE", path));
  expect(message).not.toMatch(/E[A-Z]+:|lstat|mkdir/);
});

test("a word with a dot or a slash is a file to serve, and any other an unknown command", async () => {
  for (const path of ["typo.snapshot", "./typo", "/nowhere/typo"]) {
    const problem = `cannot read ${path}: no such file or directory`;
    await expect(runCommandLine([path])).rejects.toThrow(problem);
  }
  await expect(runCommandLine(["typo"])).rejects.toThrow('unknown command "typo"');
});

test("a member of every object is completed like any unknown command", async () => {
  await runCommandLine(["completion", "bash", "roadbook constructor "]);
});

test("serve fails in one line for an invalid certificate or key", async () => {
  const a = await makeCertificate("DNS:a");
  const b = await makeCertificate("DNS:b");
  for (const [cert, key, line] of [
    ["nothing.pem", a.key, "cannot read nothing.pem: no such file or directory"],
    [a.cert, tmpdir(), `cannot read ${tmpdir()}: illegal operation on a directory`],
    [a.cert, a.cert, `${a.cert} and ${a.cert} are not a PEM certificate and its unencrypted`],
    [a.cert, b.key, `${a.cert} and ${b.key} are not a PEM certificate and its unencrypted`],
  ] as const) {
    await failsToServe(["--tls-cert", cert, "--tls-key", key]).toThrow(line);
  }
});

test.each([
  ["//", "/health", 503, '{"success":true}'],
  ["/a/b", "/a/b/health", 503, '{"success":true}'],
  ["", "/health", 200, "<p>"],
])("health of a base URL that ends in %j requests %s and refuses %d %s", async (...row) => {
  const [given, path, status, body] = row;
  const respond = () => new Response(body, { status });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", routes: { [path]: respond } });
  const origin = `http://127.0.0.1:${server.port}`;
  const line = `${origin}${path} is not a healthy Roadbook (status ${status})`;
  await expect(runCommandLine(["health", origin + given])).rejects.toThrow(line);
  server.stop(true);
});

test("--confirm says that a server is not Roadbook", async () => {
  const respond = () => new Response('{"success":true,"snapshot":null}');
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  const url = `http://127.0.0.1:${server.port}`;
  const to = join(temporaryFolder(), "snapshot");
  const words = ["import", fixture, "--to", to, "--wait", "1ms", "--confirm", url];
  const problem = `not confirmed: ${url}/health is not a healthy Roadbook (status 200)`;
  await expect(runCommandLine(words)).rejects.toThrow(problem);
  server.stop(true);
});

test("health of a URL that ends in /health says that this does not belong there", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: 404 }),
  });
  const url = `http://127.0.0.1:${server.port}/health`;
  const line = `${url}/health is not a healthy Roadbook (status 404); leave /health out of the given URL`;
  await expect(runCommandLine(["health", url])).rejects.toThrow(new Error(line));
  server.stop(true);
});

test("health and --confirm report that no server responds, without the password", async () => {
  const url = "http://user:sesame@127.0.0.1:1";
  const to = join(temporaryFolder(), "snapshot");
  const reason = "no response from http://127.0.0.1:1/health: connection refused";
  await expect(runCommandLine(["health", url])).rejects.toThrow(new Error(reason));
  const words = ["import", fixture, "--to", to, "--wait", "200ms", "--confirm", url];
  const problem = `${to} was written, but not confirmed: ${reason}`;
  await expect(runCommandLine(words)).rejects.toThrow(new Error(problem));
});
