/**
 * Locations of snapshots on other machines: http(s) URLs, and objects in S3-compatible stores. A
 * location prepares requests but never sends them, and its name never contains a secret.
 */
import { unescape as percentDecode } from "node:querystring";

export interface RemoteLocation {
  /** The name to show in messages. Omits the user name, password and query, which may be secret. */
  name: string;
  /** Returns the URL and headers for a request, including the credentials. */
  prepare(method: "GET" | "HEAD" | "PUT"): { url: string; headers: Record<string, string> };
}

/** The credentials and address of an S3-compatible store. */
export interface S3Settings {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  region?: string | undefined;
  /** Defaults to Amazon's endpoint. */
  endpoint?: string | undefined;
}

/**
 * How long a signed URL is valid. Allows for a clock that is behind the store's clock, and for the
 * time until the request is sent.
 */
const SIGNATURE_SECONDS = 900;

/**
 * Parses an http(s) URL. Returns undefined for any other text. A user name and password in the URL
 * are moved to a header.
 */
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

/** Parses `s3://bucket/key`. Returns undefined for any other text. */
export function parseS3Location(text: string, settings: S3Settings): RemoteLocation | undefined {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/([^?#]*[^?#/])$/i.exec(text) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, region, endpoint } = settings;
  const client = new Bun.S3Client({
    // Bun does not encode the access key id, but the colon in OpenStack Swift's ids must be
    // encoded.
    accessKeyId: encodeURIComponent(accessKeyId),
    secretAccessKey,
    bucket,
    region: region ?? "us-east-1",
    ...(sessionToken !== undefined && { sessionToken }),
    ...(endpoint !== undefined && { endpoint }),
  });
  return {
    name: `s3://${bucket}/${key}`,
    // Bun's client is used only for signing, because it cannot send conditions, stream from a file
    // or return the store's response. Requests can have additional headers, because the SigV4
    // signature covers only Host.
    prepare: (method) => ({
      url: client.presign(key, { method, expiresIn: SIGNATURE_SECONDS }),
      headers: {},
    }),
  };
}
