/** The flags of `serve`. Most are also options of the library. */
import { InvalidValue } from "../domain/invalid-value.ts";
import { languageCodes } from "../domain/languages.ts";
import { paragraph } from "../domain/text.ts";
import { isUrl } from "../files/input-kind.ts";
import { parseFault } from "../http/parse-fault.ts";
import { parseCidr } from "../limit/client-address.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "../server/address.ts";
import { MAX_BYTES_IN_MEMORY } from "../snapshot/format/open.ts";
import { parseS3Location, parseWebLocation } from "../snapshot/remote/location.ts";
import { DEFAULT_TITLE, MAX_LOGO_BYTES } from "../web/brand.ts";
import { declare, type Values } from "./setting.ts";
import * as types from "./value-types.ts";

/** The path of a snapshot, or its location on another machine, which may contain a password. */
const snapshotLocation = types.valueType(
  "FILE",
  (text, env) => {
    if (!isUrl(text)) return text;
    if (!/^s3:/i.test(text)) return parseWebLocation(text);
    types.requireBun("with s3:// ");
    if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return parseS3Location(text, env);
    throw new InvalidValue("with s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  },
  { wanted: "a file or an https://, http:// or s3://bucket/key URL", isSecret: true },
);

const cidr = types.valueType("CIDR", parseCidr, {
  wanted: "an IP address or CIDR, such as 10.0.0.0/8 or fd00::/8",
});

/** The settings that `serve` and the library have in common, under the headings of the help. */
export const sharedSettings = {
  ...declare("Snapshot", {
    cacheDir: {
      type: types.text("FOLDER"),
      help: paragraph(
        `where to copy a snapshot of over ${MAX_BYTES_IN_MEMORY / 1e6} MB; if given, a downloaded one stays there across`,
        "restarts (default: /var/tmp)",
      ),
    },
  }),
  ...declare("Responses", {
    publicUrl: {
      type: types.publicBaseUrl,
      help: "base URL in responses (default: from the request)",
    },
    cacheMaxAge: {
      type: types.timeOrZero,
      default: "0",
      help: paragraph(
        "how long caches may reuse a response without revalidating it; with 5m, a shared",
        "cache may serve a hidden profile for five minutes",
      ),
    },
  }),
  ...declare("Page", {
    kiosk: {
      type: types.boolean,
      help: paragraph(
        "run the page as an unattended kiosk: no external links, unlimited searches from",
        "loopback addresses",
      ),
    },
    kioskIdle: { type: types.time, default: "2m", help: "idle time before a kiosk starts over" },
    language: {
      type: types.oneOf("LANGUAGE", languageCodes),
      help: `language of the page: ${languageCodes.join(", ")} (default: the browser's)`,
    },
    featured: {
      type: types.featured,
      list: ",",
      help: paragraph(
        "drivers to show on the start page, such as 1,2,3, or all of them, in pages (default: the",
        "twelve with the most points)",
      ),
    },
    title: { type: types.text("NAME"), default: DEFAULT_TITLE, help: "the community's name" },
    accent: { type: types.colour, help: "accent colour, such as '#0a7d4f' (default: yellow)" },
    logo: {
      type: types.pathOrBytes,
      help: `a PNG, or an SVG with a viewBox, of at most ${MAX_LOGO_BYTES / 1024} KB next to the name`,
    },
    links: {
      name: "--link",
      type: types.link,
      list: ";",
      help: paragraph(
        "link at the foot of pages, but not on a kiosk, such as Imprint=https://example.org;",
        "repeatable",
      ),
    },
    driverLink: { type: types.pageLink, help: "your site's page about a driver, with {id}" },
    companyLink: { type: types.pageLink, help: "your site's page about a company, with {id}" },
    icons: {
      type: types.resolutionBase,
      help: "base URL of pictures of achievements (default: drawings)",
    },
    allowIndexing: { type: types.boolean, help: "allow search engines, and serve /sitemap.xml" },
  }),
  ...declare("Search limit", {
    searchLimit: {
      type: types.integer(0, 1_000_000),
      default: "30",
      help: "how many searches a client may make per window; 0 for no limit",
    },
    searchWindow: { type: types.time, default: "1h", help: "length of the window" },
    unlimited: {
      type: cidr,
      list: ",",
      help: "do not count searches from these addresses, such as those of your own servers; repeatable",
    },
    trustedProxies: {
      name: "--trusted-proxy",
      type: cidr,
      list: ",",
      help: "trust X-Forwarded-For, -Proto and -Host from these addresses; repeatable",
    },
    ipv6Prefix: {
      type: types.integer(0, 128),
      default: "64",
      help: "IPv6 addresses with the same first N bits count as one client",
    },
    maxClients: {
      type: types.integer(1, 2 ** 24),
      default: "100000",
      help: paragraph(
        "how many clients to track, a sixteenth of them in an IPv6 /48; when full, a new client",
        "replaces one of the network with the most clients",
      ),
    },
  }),
  ...declare("Fault injection, for tests", {
    faults: {
      name: "--fault",
      type: types.valueType("FAULT", parseFault),
      list: ";",
      help: "inject a fault, such as search:status=503,rate=0.1; repeatable",
    },
    faultSeed: { type: types.seed, default: "1", help: "random seed, to repeat the same faults" },
  }),
};

/** The parsed values of the settings that both have. */
export type SharedValues = Values<typeof sharedSettings>;

/** The flags of `serve`, in the order of the help. */
export const serveSettings = {
  ...declare("Snapshot", {
    file: {
      name: "FILE",
      type: snapshotLocation,
      replaces: ["--snapshot", "--data"],
      help: "a snapshot, like --snapshot, or anything else, like --data",
    },
    snapshot: {
      type: snapshotLocation,
      replaces: ["--data"],
      help: "the snapshot to serve: a file, or an https:// or s3:// URL (default: the bundled data)",
    },
    data: {
      type: types.text("FILE|FOLDER"),
      replaces: ["--snapshot"],
      help: paragraph(
        "a dataset, a CSV file of users or a folder of CSV files to import and serve, and again",
        "when it changes",
      ),
    },
    refresh: { type: types.time, default: "10s", help: "how often to check a snapshot URL" },
    fetchTimeout: { type: types.time, default: "30s", help: "how long a download may stall" },
  }),
  ...declare("Network", {
    host: { type: types.text("ADDRESS"), default: DEFAULT_HOST, help: "address to listen on" },
    port: {
      type: types.port,
      default: DEFAULT_PORT,
      help: "port to listen on; 0 picks a free one",
    },
    reusePort: { type: types.boolean, help: "share the port with this user's processes (Linux)" },
    idleTimeout: {
      type: types.idleTime,
      help: paragraph(
        "when to close idle connections, in steps of about 4s; a proxy's own limit must be shorter",
        "(default: 10s, with --trusted-proxy 130s)",
      ),
    },
    tlsCert: {
      type: types.text("FILE"),
      help: "serve https with this certificate (PEM), also after it changes",
    },
    tlsKey: { type: types.text("FILE"), help: "the private key of that certificate (PEM)" },
    shutdownTimeout: { type: types.time, default: "10s", help: "how long a shutdown may take" },
  }),
  ...declare("Logs and metrics", {
    logLevel: {
      type: types.oneOf("LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
      default: "info",
      help: "lowest level to log: trace, debug, info, warn, error, fatal or silent",
    },
    accessLog: { type: types.boolean, help: "log requests and client addresses at level info" },
    adminPort: {
      type: types.port,
      help: paragraph(
        "port for /metrics, /live and /ready; 0 picks a free one, which is adminUrl in the",
        "log (default: none)",
      ),
    },
    adminHost: {
      type: types.text("ADDRESS"),
      default: DEFAULT_HOST,
      help: "address for the admin port; anyone who can reach it can read the metrics",
    },
  }),
  ...declare("Page", {
    noPage: { type: types.boolean, help: "serve no web page (/, /drivers/{id}, /companies/{id})" },
  }),
  ...sharedSettings,
  ...declare("Search limit", {
    rateLimitStore: { type: types.storeUrl, help: "share the limit through redis:// or valkey://" },
  }),
};

export type ServeValues = Values<typeof serveSettings>;
