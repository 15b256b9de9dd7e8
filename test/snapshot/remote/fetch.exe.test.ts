/** A server that downloads its snapshot over https, after a redirect. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { makeSnapshot } from "../../datasets.ts";
import { makeCertificate, openExecutable, temporaryFolder } from "../../support.ts";

test("a redirect from http to https is followed", async () => {
  const { cert, key } = await makeCertificate("DNS:localhost");
  const snapshot = new Uint8Array(readFileSync(await makeSnapshot()));
  const requested: string[] = [];
  await using secure = Bun.serve({
    port: 0,
    hostname: "localhost",
    tls: { cert: readFileSync(cert), key: readFileSync(key) },
    fetch({ url }) {
      requested.push(new URL(url).pathname);
      return new Response(snapshot);
    },
  });
  await using plain = Bun.serve({
    port: 0,
    hostname: "localhost",
    fetch: () => Response.redirect(`https://localhost:${secure.port}/snapshot`),
  });
  const words = ["--snapshot", `http://localhost:${plain.port}/up`, "--refresh", "1h"];
  const env = { NODE_EXTRA_CA_CERTS: cert, TMPDIR: temporaryFolder() };
  const server = await openExecutable(words, undefined, env);
  await server.close();
  expect(requested).toEqual(["/snapshot"]);
});
