/** Parses flags whose value is a URL. Messages never repeat the URL, which may contain a secret. */

import { UsageError } from "../options.ts";
import {
  parseS3Location,
  parseWebLocation,
  type RemoteLocation,
} from "../snapshot/remote/location.ts";
import type { Environment } from "./environment.ts";
import { requireBun } from "./values.ts";

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
