/** Measures how soon a takedown reaches three replicas, and how much each of them downloads. */
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { openNginx } from "../../test/scripts/nginx.ts";
import { openS3Server } from "../../test/snapshot/remote/s3-server.ts";
import { findFreePort, openExecutable, temporaryFolder, until } from "../../test/support.ts";
import { formatRounds, type Options, tableOf, timed } from "./measure.ts";
import { buildSnapshot, createUserSampler, runCommand } from "./server.ts";

export async function benchTakedown({ users, seed, isQuick }: Options): Promise<void> {
  const [folder, port, s3] = [temporaryFolder(), findFreePort(), await openS3Server()];
  const [path, changes] = [join(folder, "own"), join(folder, "changes")];
  copyFileSync(await buildSnapshot(users), path);
  const nginx = await openNginx(port, () => `server { listen 127.0.0.1:${port}; root ${folder}; }`);
  const [ofS3, ofNginx] = [openMeter(Number(s3.env.AWS_ENDPOINT_URL?.slice(-5))), openMeter(port)];
  const sampleUser = createUserSampler(users, createRandom(seed));
  const figures = ["apply", "upload", "upload to 403", "MB", "start", "MB at start"] as const;
  const rows: string[][] = [];
  for (const [meter, url] of [
    [ofS3, s3.url("x")] as const,
    [ofNginx, `${ofNginx.origin}/x`] as const,
  ]) {
    const all: Record<string, number[]> = Object.fromEntries(figures.map((name) => [name, []]));
    const publish = async () => {
      if (meter === ofS3) return s3.put("x", Bun.file(path));
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, join(folder, "x"));
    };
    await publish();
    const env = { ...s3.env, AWS_ENDPOINT_URL: ofS3.origin };
    const servers: Awaited<ReturnType<typeof openExecutable>>[] = [];
    for (let count = 0; count < 3; count++) {
      meter.bytes = 0;
      const words = ["--snapshot", url, "--refresh", "1h"];
      const ms = await timed(async () => servers.push(await openExecutable(words, undefined, env)));
      all.start?.push(ms / 1000);
      all["MB at start"]?.push(meter.bytes / 1e6);
    }
    for (let round = 0; round < (isQuick ? 1 : 5); round++) {
      const { id } = sampleUser();
      writeFileSync(changes, `{"type":"user","id":${id},"public":false}\n`);
      all.apply?.push((await runCommand("apply", changes, "--to", path)).seconds);
      meter.bytes = 0;
      all.upload?.push((await timed(publish)) / 1000);
      const isHidden = async (server: (typeof servers)[number]) =>
        (await server.fetch(`/users/public/${id}`)).status === 403;
      // s3rver overwrites an object in place, so nothing may be downloaded during an upload.
      for (const { pid } of servers) process.kill(pid, "SIGHUP");
      const wait = () => Promise.all(servers.map((server) => until(() => isHidden(server))));
      all["upload to 403"]?.push((await timed(wait)) / 1000);
      all.MB?.push(meter.bytes / servers.length / 1e6);
    }
    rows.push([
      meter === ofS3 ? "S3" : "nginx",
      ...figures.map((name) => formatRounds(all[name] ?? [])),
    ]);
    await Promise.all(servers.map((server) => server.close()));
  }
  await Promise.all([nginx.close(), s3.kill()]);
  console.log(tableOf(["", ...figures.map((name) => `${name}:`)], rows));
}

/** Forwards connections to a port of this machine, and counts the bytes that come back. */
function openMeter(port: number) {
  const listening = findFreePort();
  const meter = { bytes: 0, origin: `http://127.0.0.1:${listening}` };
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1", () => client.pipe(upstream).pipe(client));
    upstream.on("data", (chunk) => {
      meter.bytes += chunk.length;
    });
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  server.listen(listening, "127.0.0.1");
  return meter;
}
