/** Reads which flags name a place on another machine. No message repeats a value: it may hold a secret. */
import {
  isRemote,
  type Location,
  parseS3Location,
  parseWebLocation,
} from "../snapshot/remote/location.ts";
import type { Environment } from "./flag-types.ts";
import { UsageError } from "./values.ts";

/** The location that `text`, the value of `--snapshot`, names; undefined when that is a file. */
export function readSource(text: string, env: Environment): Location | undefined {
  if (!isRemote(text)) return undefined;
  const location = /^s3:/i.test(text)
    ? readObject("--snapshot", text, env)
    : parseWebLocation(text);
  if (location) return location;
  throw new UsageError("--snapshot is not an http or https URL that can be fetched");
}

/** The location that `text`, the value of `--to`, names; undefined when that is a file. */
export function readTarget(text: string, env: Environment): Location | undefined {
  if (!isRemote(text)) return undefined;
  if (!/^s3:/i.test(text)) {
    throw new UsageError("--to is a URL that nothing can be written to; use a file or s3://");
  }
  return readObject("--to", text, env);
}

function readObject(flag: string, text: string, env: Environment): Location {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError("s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw new UsageError("AWS_ENDPOINT_URL is not an http or https URL");
  }
  const location = parseS3Location(text, {
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
    endpoint,
  });
  if (location) return location;
  throw new UsageError(`${flag} is not of the form s3://bucket/key`);
}
