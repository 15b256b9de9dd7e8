/** Declares the flags of `serve`, with their defaults and help. */
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { parseFault } from "../faults.ts";
import {
  bounds,
  parseBaseUrl,
  parseCidr,
  parseColour,
  parseInteger,
  parseMaxAge,
  parsePort,
  parseTime,
  parseTitle,
  parseUserId,
} from "../options.ts";
import { type Language, languages } from "../web/texts.ts";
import { parseList, parseOneOf, parseText } from "./values.ts";

/** The values of the flags, by name. */
export type ServeFlags = ReturnType<ReturnType<typeof declareServe>["opts"]>;

export function declareServe(program: AnyCommand) {
  return program
    .command("serve")
    .usage("[flags]")
    .description("serve requests; the default command")
    .optionsGroup("What is served:")
    .option(
      "--snapshot <FILE>",
      "the snapshot, also at an https:// or s3:// URL (default: the bundled data)",
    )
    .option("--trust-snapshot", "start without comparing the snapshot's checksum", false)
    .option("--refresh <TIME>", "how often a URL is asked for a new snapshot", parseTime, 10_000)
    .option("--fetch-timeout <TIME>", "how long a download may take", parseTime, 60_000)
    .option(
      "--cache-dir <FOLDER>",
      "keeps what was downloaded, to start from (default: a temporary folder)",
    )
    .option("--allow-older", "accept a snapshot from a URL that is older than the last", false)
    .option(
      "--public-url <URL>",
      "base URL for links, avatars and the API docs (default: the request's)",
      parseBaseUrl,
    )
    .option(
      "--cache-max-age <TIME>",
      "how long a cache may reuse a response without asking again",
      parseMaxAge,
      0,
    )
    .option("--no-page", "leave out the page for people at / and /drivers/{id}")
    .option(
      "--kiosk",
      "for an unattended screen: no links elsewhere, no limit for this machine",
      false,
    )
    .option(
      "--kiosk-idle <TIME>",
      "how long after the last touch a kiosk returns to the start",
      parseTime,
      120_000,
    )
    .option(
      "--language <LANGUAGE>",
      "the language of the page: en, de, pl, fr, es or cs (default: each reader's own)",
      parseOneOf(Object.keys(languages) as Language[]),
    )
    .option(
      "--featured <IDS>",
      "the drivers on the start page, such as 1,2,3 (default: those with the most points)",
      (text) => parseList(parseUserId)(text, []),
    )
    .option("--title <NAME>", "the community's name on the page (default: Roadbook)", (text) =>
      parseTitle(parseText(text)),
    )
    .option("--accent <COLOUR>", "the page's colour, such as '#0a7d4f' (default: yellow)", (text) =>
      parseColour(text),
    )
    .option("--logo <FILE>", "an SVG or PNG of at most 256 KB, shown beside the name")
    .option("--index", "let search engines list the page and its drivers, by /sitemap.xml", false)
    .optionsGroup("Limits:")
    .option(
      "--search-limit <N>",
      "searches a client may make in a window; 0 for no limit",
      parseInteger(...bounds.searchLimit),
      30,
    )
    .option(
      "--search-window <TIME>",
      "the length of that window, such as 1h, 2s or 500ms",
      parseTime,
      3_600_000,
    )
    .option(
      "--ipv6-prefix <N>",
      "the leading bits by which IPv6 clients are counted",
      parseInteger(...bounds.ipv6Prefix),
      64,
    )
    .option(
      "--max-clients <N>",
      "clients to track; beyond that, a new one inherits the count of the least recently seen",
      parseInteger(...bounds.maxClients),
      100_000,
    )
    .option(
      "--rate-limit-store <URL>",
      "count in a Redis or Valkey shared by several machines (redis://, rediss://, valkey://)",
    )
    .option(
      "--rate-limit-store-file <FILE>",
      "a file that holds this URL, so that ps does not show its password",
    )
    .optionsGroup("Network:")
    .option("--host <ADDRESS>", "the address to listen on", "127.0.0.1")
    .option("--port <N>", "the port to listen on; 0 picks a free one", parsePort, 3000)
    .option("--reuse-port", "share the port with other processes of the same user (Linux)", false)
    .option("--tls-cert <FILE>", "serve https with this certificate (PEM)")
    .option("--tls-key <FILE>", "the key of that certificate (PEM)")
    .option(
      "--trusted-proxy <CIDR>",
      "believe X-Forwarded-For, -Proto and -Host from these; repeatable",
      parseList(parseCidr),
      [],
    )
    .option("--grace <TIME>", "how long open requests may take after SIGTERM", parseTime, 10_000)
    .optionsGroup("Logs and metrics:")
    .option(
      "--log-level <LEVEL>",
      "the lowest level to log: trace, debug, info, warn, error, fatal or silent",
      parseOneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
      "info",
    )
    .option("--access-log", "log every request, with the address of its client", false)
    .option(
      "--admin-port <N>",
      "the port of /metrics, /live and /ready; 0 picks a free one (default: none)",
      parsePort,
    )
    .option(
      "--admin-host <ADDRESS>",
      "the address of that port; whoever reaches it reads the metrics",
      "127.0.0.1",
    )
    .optionsGroup("Test rigs:")
    .option(
      "--fault <FAULT>",
      "what fails on purpose, such as search:status=503,rate=0.1; repeatable",
      parseList(parseFault, ";"),
      [],
    )
    .option(
      "--fault-seed <N>",
      "the same number and the same requests give the same faults",
      parseInteger(...bounds.faultSeed),
      1,
    )
    .addHelpText(
      "after",
      `
A time is a number of seconds, or has a unit: 500ms, 10s, 5m, 1h or 1d.

Of a flag given twice the last counts; --trusted-proxy and --fault add up. The
variable of the one has commas between the values, that of the other semicolons.

A fault is search, profile, achievements, health or * (the first three), then a
colon, then some of these with commas between them: status=503 (the response is
this error), close (there is none), delay=200ms, jitter=50ms, rate=0.1 (of the
requests).`,
    );
}
