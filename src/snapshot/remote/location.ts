/** Where a snapshot on another machine is (an http(s) URL or an S3 object), and GET requests to it. */
import { networkReasonOf } from "../../files/errors.ts";

export interface RemoteLocation {
  /** For messages, so it omits the user name, password and query, which may be secret. */
  name: string;
  /**
   * Stays the same when the server restarts. Must not be shown, because it includes the query. A
   * presigned URL with a new signature counts as another source, so its copy is not used again.
   */
  identity: string;
  prepare(): { url: string; headers: Record<string, string> };
}

export function parseWebUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Moves a user name and password from the URL to a header. */
export function parseWebLocation(text: string): RemoteLocation | undefined {
  const url = parseWebUrl(text);
  if (!url) return undefined;

  const headers: Record<string, string> = {};
  if (url.username || url.password) {
    const { unescape: percentDecode } = process.getBuiltinModule("node:querystring");
    const pair = percentDecode(`${url.username}:${url.password}`);
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  }

  url.username = "";
  url.password = "";
  url.hash = "";
  const { href } = url;
  return {
    name: url.origin + url.pathname,
    identity: href,
    prepare: () => ({ url: href, headers }),
  };
}

/** Parses `s3://bucket/key`. Credentials, region and endpoint come from the variables in `env`. */
export function parseS3Location(
  text: string,
  env: Record<string, string | undefined>,
): RemoteLocation | undefined {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/([^?#]*[^?#/])$/i.exec(text) ?? [];
  if (bucket === undefined || key === undefined) return undefined;

  const { AWS_SESSION_TOKEN: sessionToken } = env;
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  const options: Bun.S3Options = {
    // Bun does not encode the id, but the colon in OpenStack Swift's ids must be encoded.
    accessKeyId: encodeURIComponent(env.AWS_ACCESS_KEY_ID ?? ""),
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? "",
    bucket,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1",
  };
  if (sessionToken) options.sessionToken = sessionToken;
  if (endpoint) options.endpoint = endpoint;
  const client = new Bun.S3Client(options);

  // Valid for 15 minutes, because this machine's clock may be behind the store's.
  const presign = () => client.presign(key, { method: "GET", expiresIn: 900 });
  const name = `s3://${bucket}/${key}`;
  return { name, identity: name, prepare: () => ({ url: presign(), headers: {} }) };
}

/** The source gave no snapshot: a request failed, or its response was of no use or ended early. */
export class RequestError extends Error {}

export type Get = ReturnType<typeof createGet>;
export type Reply = Awaited<ReturnType<Get>>;

/**
 * Returns a function that sends a GET request, which fails if nothing arrives for `timeoutMs`.
 * Disposing of a reply closes its connection, however much of its body has been read.
 */
export function createGet(location: RemoteLocation, timeoutMs: number) {
  const failWith =
    (what: string) =>
    (error: unknown): never => {
      throw new RequestError(`${what}: ${networkReasonOf(error, timeoutMs)}`);
    };
  return async (more: Record<string, string>) => {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(new DOMException("", "TimeoutError")), timeoutMs);
    const end = () => {
      clearTimeout(timer);
      control.abort();
    };

    async function* read({ body }: Response): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of body ?? []) {
          timer.refresh();
          yield chunk;
        }
      } catch (error) {
        failWith("stopped sending")(error);
      }
    }

    const { url, headers: own } = location.prepare();
    try {
      const response = await fetch(url, { headers: { ...own, ...more }, signal: control.signal });
      timer.refresh();
      const { status, headers } = response;
      return { status, headers, body: read(response), [Symbol.dispose]: end };
    } catch (error) {
      end();
      return failWith("cannot be reached")(error);
    }
  };
}
