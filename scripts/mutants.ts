/**
 * `bun run mutants` removes one guarantee after the other from a copy of the project, and expects that
 * the named tests notice. It prints which were not noticed, and how many were. `bun run mutants WORD`
 * tries only those whose guarantee contains the word. It is not part of CI, because it takes minutes.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

interface Mutant {
  guarantee: string;
  /** The file in `src`, in which `code` occurs once. */
  file: string;
  code: string;
  becomes: string;
  /** Files in `test`. */
  tests: string;
}

const mutants: Mutant[] = [];

/** Declares mutants of a file, each as the guarantee that it removes, the code, and what that becomes. */
function mutate(file: string, tests: string, ...edits: [string, code: string, becomes: string][]) {
  for (const [guarantee, code, becomes] of edits) {
    mutants.push({ guarantee, file, code, becomes, tests });
  }
}

mutate(
  "http/response.ts",
  "http/routes.test.ts http/caching.test.ts http/api.test.ts",
  ["no response is sniffed", '"X-Content-Type-Options": "nosniff",', ""],
  ["a forged host is in no shared cache", "&& mayBeForged", "&& false"],
);
mutate("http/errors.ts", "http/routes.test.ts http/api.test.ts", [
  "a 405 says what is allowed",
  "code === 405 ? allowHeaders : {}",
  "{}",
]);
mutate(
  "http/content.ts",
  "http/caching.test.ts web/view.test.ts",
  ["a proxy's suffix of an ETag is a 304", "(?:--?gzip|;gzip)?", ""],
  ["an error is not stored", "status < 400 && body !== null", "body !== null"],
  ["Back loads results without a search", '"private, max-age=60"', '"no-cache"'],
);
mutate("http/endpoints.ts", "http/api.test.ts", [
  "an id has no leading zero",
  "^[1-9]\\\\d{0,15}$",
  "^\\\\d{1,16}$",
]);
mutate("http/rate-limit.ts", "limit/limit.test.ts", [
  "waiting for Retry-After is enough",
  "Math.ceil(ms / 1000)",
  "Math.floor(ms / 1000)",
]);
mutate(
  "http/pages/pages.ts",
  "web/view.test.ts http/caching.test.ts http/routes.test.ts",
  ["a kiosk's page varies by its cookie", 'kiosk ? ", cookie" : ""', '""'],
  ["a page loads no script of others", "script-src 'self'; style-src", "script-src *; style-src"],
  ["no other site shows the page in a frame", "; frame-ancestors 'none'\"", '"'],
);
mutate(
  "http/pages/pages.ts",
  "web/view.test.ts http/caching.test.ts",
  [
    "only a kiosk reads the language's cookie",
    'isKiosk ? headers.get("cookie")',
    'true ? headers.get("cookie")',
  ],
  ["dates are as in the visitor's region", "tags.find((tag) => regional.test(tag))", "undefined"],
);
mutate("web/html.ts", "web/view.test.ts", [
  "a name is no HTML",
  "escapeUTF8(String(value))",
  "String(value)",
]);
mutate("web/render.ts", "web/view.test.ts", [
  "no link leads off a kiosk",
  "template === undefined || brand.kiosk",
  "template === undefined",
]);
mutate(
  "snapshot/read/queries.ts",
  "http/api.test.ts",
  ["a private profile is a 403", 'isPrivate ? "profile_private"', 'false ? "profile_private"'],
  ["roles are in the order of their hierarchy", ".sort(compareRoles)", ""],
);

mutate(
  "limit/limiter.ts",
  "limit/limiter.test.ts limit/limit.test.ts",
  ["a refused search does not count", "if (allowed) times.push(now)", "times.push(now)"],
  ["a window is as long as it says", "now - time >= windowMs", "now - time > windowMs"],
  [
    "setting the clock back frees nothing",
    "Math.max(now, Math.floor(clock()))",
    "Math.floor(clock())",
  ],
  ["a limit of 30 allows 30", "times.length < limit;", "times.length <= limit;"],
);
mutate(
  "limit/client-table.ts",
  "limit/limiter.test.ts",
  ["a full /48 gains nothing by rotating", "loser === own ? times : undefined", "undefined"],
  ["a stranger's count is not inherited", "loser === own ? times : undefined", "times"],
  ["a /48 has a share of the places", "own?.clients.size === share", "false"],
);
mutate(
  "limit/client-address.ts",
  "limit/client-address.test.ts limit/limit.test.ts",
  ["the rightmost untrusted address counts", "entries.pop()", "entries.shift()"],
  [
    "nobody behind a stranger's proxy is unlimited",
    "!isUnlimited || (forwardedFor !== null && !trusts(peer))",
    "!isUnlimited",
  ],
  ["IPv4 in IPv6 is the same client", "ipaddr.process(bare)", "ipaddr.parse(bare)"],
  ["a /64 is one client", "networkOf(address, ipv6Prefix)", "networkOf(address, 128)"],
);

mutate(
  "search/fold.ts",
  "search/fold.test.ts search/spellings.test.ts search/tiers.test.ts",
  ["obrien finds O'Brien", 'text.replace(APOSTROPHES, "")', "text"],
  ["the alef wasla is an alef", '  ٱ: "ا",\n', ""],
  ["a schwa may be typed as a", '  ə: "a",\n', ""],
  ["any dash is a dash", "[[\\p{Pd}\\u2212]--\\-]", ""],
  ["a long query finds nothing", "hasCodePoints(query, MAX_QUERY_CODE_POINTS + 1)", "false"],
);
mutate(
  "search/tiers.ts",
  "search/tiers.test.ts search/places.test.ts",
  ["a mark belongs to the letter before it", "(?<![\\p{L}\\p{N}]\\p{M}*)", "(?<![\\p{L}\\p{N}])"],
  ["words of one letter do not match apart", "hasCodePoints(word, 2)", "hasCodePoints(word, 1)"],
);
mutate("search/name-index.ts", "search/places.test.ts search/name-index.test.ts", [
  "the order of companies is total",
  "ORDER BY member_count DESC, id",
  "ORDER BY member_count DESC, id DESC",
]);

mutate(
  "import/takedowns.ts",
  "import/takedowns.test.ts snapshot/privacy.test.ts",
  ["a hold ends after an hour", "Math.min(holdMs, MAX_HOLD_MS)", "holdMs"],
  ["a takedown is forgotten after an hour", "nowMs - MAX_HOLD_MS} OR", "0} OR"],
  ["a clock set back ends no takedown", "hold.nowMs})", "2 ** 53})"],
  ["a held user stays private", "old.private_user WHERE", "old.private_user WHERE FALSE AND"],
);
mutate(
  "import/guard.ts",
  "import/writing.test.ts import/import.test.ts import/apply.test.ts import/takedowns.test.ts",
  [
    "an import that publishes most is refused",
    'if (isImport) check("allowReveal"',
    'if (false) check("allowReveal"',
  ],
  ["an import that loses most is refused", 'check("allowShrink", loss)', "loss"],
  [
    "an import that renumbers is refused",
    'if (isImport) check("allowRenames"',
    'if (false) check("allowRenames"',
  ],
  ["takedowns make the guard strict", "old?.hasTakedowns ? MAX_PRIVATE", "false ? MAX_PRIVATE"],
);
mutate("import/clean-record.ts", "domain/dataset.test.ts", [
  "a report quotes no private user",
  "mayBePrivate(record) ? [] : oddTexts",
  "found",
]);
mutate("snapshot/format/seal.ts", "snapshot/privacy.test.ts", [
  "unused space keeps nothing of private users",
  "unused.fill(0);",
  "",
]);
mutate("snapshot/format/layout.ts", "snapshot/check.test.ts snapshot/reload.test.ts", [
  "a damaged snapshot is not served",
  "checksumLine(sha256).equals(chunk)",
  "chunk.length > 0",
]);
mutate(
  "domain/text.ts",
  "import/import.test.ts commands/command-line.test.ts domain/dataset.test.ts",
  [
    "a message prints no control characters",
    "short.toWellFormed().replace(/[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]/gu, toCode)",
    "short",
  ],
);

const root = resolve(import.meta.dir, "..");
const copy = mkdtempSync(join(tmpdir(), "roadbook-mutants-"));
try {
  const tracked = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root }).stdout.toString();
  for (const file of tracked.split("\0").filter(Boolean)) {
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  process.exitCode = tryAll(process.argv[2] ?? "") ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true });
}

/** Returns whether every mutant whose guarantee contains a word was noticed. */
function tryAll(word: string): boolean {
  const tried = mutants.filter(({ guarantee }) => guarantee.includes(word));
  const stale = tried.filter(({ file, code }) => read(file).split(code).length !== 2);
  if (stale.length > 0) {
    const lines = stale.map(({ file, code }) => `src/${file} must have this once: ${code}`);
    throw new Error(lines.join("\n"));
  }

  const tests = new Set(tried.flatMap(({ tests }) => tests.split(" ")));
  if (!passes([...tests])) throw new Error("the tests fail without any mutant");

  const survivors = tried.filter((mutant) => !isNoticed(mutant));
  for (const { guarantee, file, tests } of survivors) {
    console.error(`nobody noticed: ${guarantee} (src/${file}, test/${tests})`);
  }
  console.log(`${tried.length - survivors.length} of ${tried.length} caught`);
  return survivors.length === 0;
}

function read(file: string): string {
  return readFileSync(join(copy, "src", file), "utf8");
}

function isNoticed({ file, code, becomes, tests }: Mutant): boolean {
  const path = join(copy, "src", file);
  const text = read(file);
  // A function, because `$` is special in a text.
  writeFileSync(
    path,
    text.replace(code, () => becomes),
  );
  const isNoticed = !passes(tests.split(" "));
  writeFileSync(path, text);
  return isNoticed;
}

function passes(tests: string[]): boolean {
  const files = tests.map((file) => join("test", file));
  const command = [process.execPath, "test", "--bail", "--parallel=2", ...files];
  return Bun.spawnSync(command, { cwd: copy, env: { ...process.env, TEST_QUICK: "1" } }).success;
}
