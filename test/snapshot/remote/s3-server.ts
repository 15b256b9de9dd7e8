/**
 * Runs s3rver, a real S3-compatible server, on a loopback port with one bucket for tests. s3rver
 * supports If-None-Match but ignores If-Match.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findFreePort, root, temporaryFolder, until } from "../../support.ts";

export type S3Server = Awaited<ReturnType<typeof openS3Server>>;

export async function openS3Server() {
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
    /** The environment variables that programs need to use the server. */
    env: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL: endpoint,
    },
    url: (key: string) => `s3://community/${key}`,
    async put(key: string, bytes: Uint8Array | Blob): Promise<void> {
      await client.write(key, bytes);
      // s3rver overwrites an object in place, and responds before all of it is written.
      const expected = Buffer.from(await new Response(bytes as BodyInit).bytes());
      const read = () => client.file(key).bytes();
      await until(() =>
        read()
          .then((written) => expected.equals(written))
          .catch(() => false),
      );
    },
    /** `start` restarts the server with the same objects. */
    async kill(): Promise<void> {
      server?.kill("SIGKILL");
      await server?.exited;
    },
    start,
  };
}
