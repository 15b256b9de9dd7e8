/** A server whose snapshot comes from a real nginx, which takes the same ETag for two files. */
import { expect, test } from "bun:test";
import { copyFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { seedDataset } from "../../../src/community/community.ts";
import { applyChanges } from "../../../src/import/apply.ts";
import { bytesOf, makeSnapshot, user } from "../../datasets.ts";
import { hasProxy, nginxWith, openProxy } from "../../scripts/proxies.ts";
import { findFreePort, openExecutable, temporaryFolder, until } from "../../support.ts";

const hide = (id: number) => bytesOf([{ type: "user", id, public: false }]);

test.if(hasProxy({ program: "nginx" }))(
  "a takedown with the size and the second of the file before reaches a server on SIGHUP",
  async () => {
    const snapshot = await makeSnapshot([
      ...seedDataset({ users: 1500, companies: 60, seed: 1 }),
      user(2001, "Nora Nowak"),
      user(2002, "Anna Nowak"),
    ]);
    // The first takedown changes the size.
    await applyChanges(hide(2001), snapshot);

    const folder = temporaryFolder();
    const published = join(folder, "roadbook.snapshot");
    const publish = () => {
      copyFileSync(snapshot, published);
      utimesSync(published, 1_700_000_000, 1_700_000_000);
    };
    publish();
    const { size } = statSync(published);

    const port = findFreePort();
    const site = `server { listen 127.0.0.1:${port}; root ${folder}; }`;
    const nginx = await openProxy(
      nginxWith(() => site),
      { listen: port, upstream: 0 },
    );
    const url = `${nginx.origin}/roadbook.snapshot`;
    const server = await openExecutable(["--snapshot", url, "--refresh", "1h"]);
    expect((await server.fetch("/users/public/2002")).status).toBe(200);

    const etagOf = async () => (await fetch(url, { method: "HEAD" })).headers.get("etag");
    const etag = await etagOf();
    await applyChanges(hide(2002), snapshot);
    publish();
    expect([statSync(published).size, await etagOf()]).toEqual([size, etag]);

    process.kill(server.pid, "SIGHUP");
    await until(async () => (await server.fetch("/users/public/2002")).status === 403);
    await server.close();
    await nginx.close();
  },
);
