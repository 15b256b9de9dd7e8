/**
 * The location of a snapshot on another machine: an http(s) URL, or an object in an S3-compatible
 * store. Prepares requests and never sends them. The name of a location never contains a secret.
 */
import { unescape as percentDecode } from "node:querystring";

export interface RemoteLocation {
  /** For messages: without user, password and query, each of which may be a secret. */
  name: string;
  /** The URL and headers of a request, with the credentials that the other side expects. */
  prepare(method: "GET" | "HEAD" | "PUT"): { url: string; headers: Record<string, string> };
}

/** The credentials and the address of a store. */
export interface S3Settings {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  region?: string | undefined;
  /** Amazon's by default. */
  endpoint?: string | undefined;
}

/** Covers a clock that is behind the store's, and the time until the request is sent. */
const SIGNATURE_SECONDS = 900;

/** Parses an http(s) URL; undefined for any other text. User and password move into a header. */
export function parseWebLocation(text: string): RemoteLocation | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const headers: Record<string, string> = {};
  if (url.username || url.password) {
    const pair = percentDecode(`${url.username}:${url.password}`);
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  url.username = url.password = url.hash = "";
  return { name: url.origin + url.pathname, prepare: () => ({ url: url.href, headers }) };
}

/** Parses `s3://bucket/key`; undefined for any other text. */
export function parseS3Location(text: string, settings: S3Settings): RemoteLocation | undefined {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/([^?#]*[^?#/])$/i.exec(text) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, region, endpoint } = settings;
  const client = new Bun.S3Client({
    // Bun does not encode the id, but a colon, as in the ids of Swift, must be encoded.
    accessKeyId: encodeURIComponent(accessKeyId),
    secretAccessKey,
    bucket,
    region: region ?? "us-east-1",
    ...(sessionToken !== undefined && { sessionToken }),
    ...(endpoint !== undefined && { endpoint }),
  });
  return {
    name: `s3://${bucket}/${key}`,
    // Bun's client is only used to sign. It cannot send conditions, stream from a file or return
    // the store's response. A signed URL leaves other headers free, because SigV4 signs only Host.
    prepare: (method) => ({
      url: client.presign(key, { method, expiresIn: SIGNATURE_SECONDS }),
      headers: {},
    }),
  };
}
