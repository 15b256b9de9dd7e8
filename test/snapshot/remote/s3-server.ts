/**
 * Runs s3rver, a real S3-compatible server, on a loopback port with one bucket for tests. s3rver
 * supports If-None-Match but ignores If-Match.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findFreePort, root, temporaryFolder, until } from "../../support.ts";

export interface S3Server {
  /** The environment variables that programs need to use the server. */
  env: Record<string, string>;
  /** Returns the URL of an object in the bucket. */
  url(key: string): string;
  put(key: string, bytes: Uint8Array | Blob): Promise<void>;
  get(key: string): Promise<Uint8Array>;
  list(): Promise<string[]>;
  /** Kills the server. `start` restarts it with the same objects. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function openS3Server(): Promise<S3Server> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "community"));
  const port = findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  const client = new Bun.S3Client({ ...credentials, endpoint, bucket: "community" });
  let server: Bun.Subprocess | undefined;

  async function start(): Promise<void> {
    const program = join(root, "node_modules/s3rver/bin/s3rver.js");
    const flags = ["--directory", folder, "--address", "127.0.0.1", "--port", `${port}`];
    server = Bun.spawn(
      [process.execPath, program, ...flags, "--silent", "--configure-bucket", "community"],
      { stdout: "ignore", stderr: "ignore" },
    );
    await until(() => client.list().catch(() => undefined));
  }

  await start();
  return {
    env: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL: endpoint,
    },
    url: (key) => `s3://community/${key}`,
    async put(key, bytes) {
      await client.write(key, bytes);
      // s3rver overwrites an object in place, and responds before all of it is written.
      const expected = await new Response(bytes as BodyInit).bytes();
      await until(async () =>
        isDeepStrictEqual(
          await client
            .file(key)
            .bytes()
            .catch(() => ""),
          expected,
        ),
      );
    },
    get: (key) => client.file(key).bytes(),
    list: async () => ((await client.list()).contents ?? []).map(({ key }) => key),
    async kill() {
      server?.kill("SIGKILL");
      await server?.exited;
    },
    start,
  };
}
