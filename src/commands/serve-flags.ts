/** Declares the flags of `serve`, with their defaults and help. */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { type Fault, parseFault } from "../faults.ts";
import {
  bounds,
  parseBaseUrl,
  parseCidr,
  parseColour,
  parseInteger,
  parseMaxAge,
  parsePort,
  parseStoreUrl,
  parseTime,
  parseTitle,
  parseUserId,
} from "../options.ts";
import { type Language, languages } from "../web/texts.ts";
import { parseList, parseOneOf, parseText } from "./values.ts";

/** The values of the flags of `serve`, by name. */
export type ServeFlags = ReturnType<ReturnType<typeof declareServe>["opts"]>;

export function declareServe(program: AnyCommand) {
  return program
    .command("serve")
    .usage("[flags]")
    .description("start the server (the default command)")
    .optionsGroup("Snapshot:")
    .option(
      "--snapshot <FILE>",
      "the snapshot to serve: a file, or an https:// or s3:// URL (default: the bundled data)",
    )
    .option(
      "--refresh <TIME>",
      "how often to check a snapshot URL for a new version",
      parseTime,
      10_000,
    )
    .option("--fetch-timeout <TIME>", "how long a snapshot download may take", parseTime, 60_000)
    .option(
      "--cache-dir <FOLDER>",
      "where to copy the snapshot, and to keep a downloaded one across restarts (default: /var/tmp)",
    )
    .optionsGroup("Responses:")
    .option(
      "--public-url <URL>",
      "base URL for links, avatars and the API docs (default: the request's)",
      parseBaseUrl,
    )
    .option(
      "--cache-max-age <TIME>",
      "how long caches may reuse a response without revalidating it",
      parseMaxAge,
      0,
    )
    .optionsGroup("Page:")
    .option("--no-page", "do not serve the web page (/ and /drivers/{id})")
    .option(
      "--kiosk",
      "run the page as an unattended kiosk: no external links, unlimited searches from this machine",
      false,
    )
    .option(
      "--kiosk-idle <TIME>",
      "idle time before a kiosk returns to the start page",
      parseTime,
      120_000,
    )
    .option(
      "--language <LANGUAGE>",
      "language of the page: en, de, pl, fr, es or cs (default: the browser's)",
      parseOneOf(Object.keys(languages) as Language[]),
    )
    .option(
      "--featured <IDS>",
      "drivers to show on the start page, such as 1,2,3 (default: those with the most points)",
      (text) => parseList(parseUserId)(text, []),
    )
    .option("--title <NAME>", "the community's name on the page (default: Roadbook)", (text) =>
      parseTitle(parseText(text)),
    )
    .option(
      "--accent <COLOUR>",
      "accent colour of the page, such as '#0a7d4f' (default: yellow)",
      (text) => parseColour(text),
    )
    .option("--logo <FILE>", "an SVG or PNG of at most 256 KB to show next to the name")
    .option(
      "--allow-indexing",
      "let search engines index the page and its drivers, and serve /sitemap.xml",
      false,
    )
    .optionsGroup("Search limit:")
    .option(
      "--search-limit <N>",
      "how many searches a client may make per window; 0 for no limit",
      parseInteger(...bounds.searchLimit),
      30,
    )
    .option(
      "--search-window <TIME>",
      "length of the window, such as 1h, 2s or 500ms",
      parseTime,
      3_600_000,
    )
    .option(
      "--unlimited <CIDR>",
      "do not count searches from these addresses, such as your own site; repeatable",
      parseList(parseCidr),
      [],
    )
    .option(
      "--ipv6-prefix <N>",
      "IPv6 addresses with the same first N bits count as one client",
      parseInteger(...bounds.ipv6Prefix),
      64,
    )
    .option(
      "--max-clients <N>",
      "how many clients to track; when full, a new client replaces the least recently seen one and inherits its count",
      parseInteger(...bounds.maxClients),
      100_000,
    )
    .option(
      "--rate-limit-store <URL>",
      "share the limit between machines through Redis or Valkey (redis://, rediss://, valkey://)",
      parseStoreUrl,
    )
    .optionsGroup("Network:")
    .option("--host <ADDRESS>", "address to listen on", "127.0.0.1")
    .option("--port <N>", "port to listen on; 0 picks a free one", parsePort, 3000)
    .option("--reuse-port", "share the port with other processes of the same user (Linux)", false)
    .option("--tls-cert <FILE>", "serve https with this certificate (PEM)")
    .option("--tls-key <FILE>", "the private key of that certificate (PEM)")
    .option(
      "--trusted-proxy <CIDR>",
      "trust X-Forwarded-For, -Proto and -Host from these addresses; repeatable",
      parseList(parseCidr),
      [],
    )
    .option(
      "--shutdown-timeout <TIME>",
      "how long open requests may take to finish after SIGTERM",
      parseTime,
      10_000,
    )
    .optionsGroup("Logs and metrics:")
    .option(
      "--log-level <LEVEL>",
      "lowest level to log: trace, debug, info, warn, error, fatal or silent",
      parseOneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
      "info",
    )
    .option("--access-log", "log every request with its client's address", false)
    .option(
      "--admin-port <N>",
      "port for /metrics, /live and /ready; 0 picks a free one (default: none)",
      parsePort,
    )
    .option(
      "--admin-host <ADDRESS>",
      "address for the admin port; anyone who can reach it can read the metrics",
      "127.0.0.1",
    )
    .optionsGroup("Fault injection, for tests:")
    .option(
      "--fault <FAULT>",
      "make requests fail on purpose, such as search:status=503,rate=0.1; repeatable",
      parseFaults,
    )
    .option(
      "--fault-seed <N>",
      "random seed; the same seed and requests give the same faults",
      parseInteger(...bounds.faultSeed),
      1,
    )
    .addHelpText(
      "after",
      `
A TIME is a number of seconds, or a number with a unit: 500ms, 10s, 5m, 1h, 1d.

If a flag is repeated, the last value wins, except that --trusted-proxy,
--unlimited and --fault keep every value. In an environment variable, separate
multiple values with commas (ROADBOOK_TRUSTED_PROXY, ROADBOOK_UNLIMITED) or
semicolons (ROADBOOK_FAULT).

A FAULT is a target, a colon and a comma-separated list. The target is search,
profile, achievements, health, or * for the first three. The list has at least
one of status=503 (respond with this error), close (close the connection without
a response) and delay=200ms (respond later). It may also have jitter=50ms (vary
the delay), rate=0.1 (affect only this share of the requests) and times=2 (stop
after two requests). With --fault none, nothing fails yet. With --fault and
--admin-port, PUT /faults on the admin port replaces the faults (the body is a
JSON list of them) and DELETE /search-limit resets the search limit.`,
    );
}

/** Parses faults, or `none`, which allows faults to be set later through the admin port. */
function parseFaults(text: string, previous: Fault[] = []): Fault[] {
  return text === "none" ? previous : parseList(parseFault, ";")(text, previous);
}
