/** Measures how soon a takedown reaches three replicas, and how much each of them downloads. */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../../src/domain/random.ts";
import { nginxWith, openProxy } from "../../test/scripts/proxies.ts";
import { openS3Server } from "../../test/snapshot/remote/s3-server.ts";
import { findFreePort, openExecutable, temporaryFolder, until } from "../../test/support.ts";
import { formatRounds, type Options, tableOf, timed } from "./measure.ts";
import { buildSnapshot, createUserSampler, runCommand } from "./server.ts";

const titles = ["MB at start", "MB", "apply, s", "upload, s", "upload to 403, s"];

export async function benchTakedown({ users, isQuick }: Options): Promise<void> {
  const folder = temporaryFolder();
  const port = findFreePort();
  const s3 = await openS3Server();
  const path = join(folder, "own");
  const log = join(folder, "log");
  copyFileSync(await buildSnapshot(users), path);
  const site = `log_format bytes $bytes_sent; server { listen 127.0.0.1:${port};
    access_log ${log} bytes; root ${folder}; location /community/ { proxy_buffering off;
    proxy_pass ${s3.env.AWS_ENDPOINT_URL}; proxy_set_header Host $http_host; } }`;
  const ports = { listen: port, upstream: 0 };
  const { origin, close } = await openProxy(
    nginxWith(() => site),
    ports,
  );
  const sent = () =>
    readFileSync(log, "utf8")
      .split("\n")
      .reduce((sum, line) => sum + +line, 0);
  const sampleUser = createUserSampler(path, new Random(1));
  const env = { ...s3.env, AWS_ENDPOINT_URL: origin };
  for (const [name, url] of Object.entries({ S3: s3.url("x"), nginx: `${origin}/x` })) {
    const publish = async () => {
      if (name === "S3") return s3.put("x", Bun.file(path));
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, join(folder, "x"));
    };
    await publish();
    const rows: number[][] = [];
    for (let round = 0; round < (isQuick ? 1 : 5); round++) {
      const before = sent();
      const start = () => openExecutable(["--snapshot", url, "--refresh", "1h"], undefined, env);
      const servers = [await start(), await start(), await start()];
      const { id } = sampleUser();
      writeFileSync(`${path}.changes`, `{"type":"user","id":${id},"public":false}\n`);
      const { seconds } = await runCommand("apply", `${path}.changes`, "--to", path);
      // The ETag of nginx consists of the size and the time in seconds.
      await Bun.sleep(1000);
      const uploadMs = await timed(publish);
      const between = sent();
      const hideMs = await timed(async () => {
        for (const { pid } of servers) process.kill(pid, "SIGHUP");
        for (const { fetch } of servers) {
          await until(async () => (await fetch(`/users/public/${id}`)).status === 403);
        }
      });
      const megabytes = [between - before, sent() - between].map((bytes) => bytes / 3e6);
      rows.push([...megabytes, seconds, uploadMs / 1000, hideMs / 1000]);
      await Promise.all(servers.map((server) => server.close()));
    }
    const cells = titles.map((_, at) => formatRounds(rows.map((row) => row[at] ?? 0)));
    console.log(tableOf([name, ...titles.map((title) => `${title}:`)], [["", ...cells]]));
  }
  await Promise.all([close(), s3.kill()]);
}
