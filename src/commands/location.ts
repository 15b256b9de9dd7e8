/** Parses flags whose value is a URL. Messages never repeat the URL, which may contain a secret. */
import { readFileSync } from "node:fs";
import type { CommandUnknownOpts as AnyCommand } from "@commander-js/extra-typings";
import { reasonOf } from "../files/errors.ts";
import {
  parseS3Location,
  parseWebLocation,
  type RemoteLocation,
} from "../snapshot/remote/location.ts";
import type { Environment } from "./environment.ts";
import { requireBun, UsageError } from "./values.ts";

/** Parses --snapshot into a location; undefined if it is missing or the path of a file. */
export function readLocation(
  text: string | undefined,
  env: Environment,
): RemoteLocation | undefined {
  if (text === undefined || !/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return undefined;
  const isObject = /^s3:/i.test(text);
  if (isObject) checkS3Variables(env);
  const location = isObject ? parseS3Location(text, env) : parseWebLocation(text);
  if (location) return location;
  const wanted = isObject
    ? "have the form s3://bucket/key"
    : "be a file or an https://, http:// or s3:// URL";
  throw new UsageError(`--snapshot must ${wanted}`);
}

function checkS3Variables(env: Environment): void {
  requireBun("s3://");
  if (!env.AWS_ACCESS_KEY_ID || !env.AWS_SECRET_ACCESS_KEY) {
    throw new UsageError("s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw new UsageError("AWS_ENDPOINT_URL must be an http or https URL");
  }
}

/**
 * Returns the URL of the store that counts searches, given directly or in a file. A flag overrides
 * the environment variables.
 */
export async function findStoreUrl(serve: AnyCommand): Promise<string | undefined> {
  const given = ["rateLimitStore", "rateLimitStoreFile"].filter((key) => serve.getOptionValue(key));
  const onCommandLine = given.filter((key) => serve.getOptionValueSource(key) === "cli");
  const [key, other] = onCommandLine.length > 0 ? onCommandLine : given;
  if (key === undefined) return undefined;
  if (other !== undefined) {
    throw new UsageError("--rate-limit-store and --rate-limit-store-file are mutually exclusive");
  }
  const value = String(serve.getOptionValue(key));
  const isFile = key === "rateLimitStoreFile";
  requireBun("--rate-limit-store");
  const { isStoreUrl } = await import("../limit/redis.ts");
  const url = isFile ? readText(value).trim() : value;
  if (isStoreUrl(url)) return url;
  const kind = "redis://, rediss:// or valkey:// URL";
  if (isFile) throw new Error(`${value} must contain a ${kind}`);
  const name = onCommandLine.length > 0 ? "--rate-limit-store" : "ROADBOOK_RATE_LIMIT_STORE";
  throw new UsageError(`${name} must be a ${kind}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`);
  }
}
