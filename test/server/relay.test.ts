/** Connections that are passed on to a server of this process. */
import { expect, test } from "bun:test";
import { createRelay, LOOPBACK } from "../../src/server/relay.ts";
import { findFreePort } from "../support.ts";

test("the port is free again if the server behind it cannot start", async () => {
  const options = { host: LOOPBACK, port: findFreePort() };
  const failing = () => {
    throw new Error("no certificate");
  };
  expect(() => createRelay(options, failing)).toThrow("no certificate");
  const server = () => Bun.serve({ port: 0, hostname: LOOPBACK, fetch: () => new Response("ok") });
  const relay = createRelay(options, server);
  expect(await (await fetch(`http://${LOOPBACK}:${relay.port}`)).text()).toBe("ok");
  await relay.stop(true);
});
