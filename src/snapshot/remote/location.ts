/**
 * Where a snapshot lies that is on another machine: at an http(s) URL, or as an object in a store that
 * speaks S3. Makes requests ready to send; the name it gives a place holds no secret.
 */
import { unescape as percentDecode } from "node:querystring";

export interface Location {
  /** For people: without user, password and query, each of which may be a secret. */
  name: string;
  /** The URL and headers of a request that the other side will accept. */
  prepare(method: "GET" | "HEAD" | "PUT"): { url: string; headers: Record<string, string> };
}

/** What the store is asked with. */
export interface S3Settings {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  region?: string | undefined;
  /** Another store than Amazon's. */
  endpoint?: string | undefined;
}

/** A clock may be so far behind the store's, and a request wait so long to be sent. */
const SIGNATURE_SECONDS = 900;

/** The location at an http(s) URL; undefined when it is none. User and password go into a header. */
export function parseWebLocation(text: string): Location | undefined {
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

/** The location `s3://bucket/key`; undefined when it is none. */
export function parseS3Location(text: string, settings: S3Settings): Location | undefined {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/([^?#]*[^?#/])$/i.exec(text) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, region, endpoint } = settings;
  const client = new Bun.S3Client({
    // Bun signs it, and puts it in the URL, as it is: a colon, which Swift's have, is to be encoded.
    accessKeyId: encodeURIComponent(accessKeyId),
    secretAccessKey,
    bucket,
    region: region ?? "us-east-1",
    ...(sessionToken !== undefined && { sessionToken }),
    ...(endpoint !== undefined && { endpoint }),
  });
  return {
    name: `s3://${bucket}/${key}`,
    // Bun's client sends no conditions, streams from no file and keeps what a store responds with to
    // itself. It signs, and a signed URL leaves other headers free (SigV4 signs Host alone).
    prepare: (method) => ({
      url: client.presign(key, { method, expiresIn: SIGNATURE_SECONDS }),
      headers: {},
    }),
  };
}
