/** Processes that share a port. When a process stops, no connection is lost. */
import { expect, test } from "bun:test";
import { community, makeSnapshot } from "../datasets.ts";
import { openLogged, until } from "../support.ts";

const isLinux = process.platform === "linux";

/** Starts a server in which the name of user 44 contains `word`. */
async function openNamed(word: string, port: string) {
  const lines = community.map((line) => ("name" in line ? { ...line, name: word } : line));
  const words = ["--snapshot", await makeSnapshot(lines), "--port", port, "--reuse-port"];
  return openLogged(words);
}

test.if(isLinux)("with --reuse-port, two processes respond on one port", async () => {
  const one = await openNamed("alpha", "0");
  const { port } = new URL(one.origin);
  const other = await openNamed("omega", port);
  const ask = async () => {
    const headers = { connection: "close" };
    const response = await one.fetch("/users/public/44", { headers });
    return /alpha|omega/.exec(await response.text())?.[0];
  };
  const seen = new Set<string | undefined>();
  await until(async () => seen.add(await ask()).size === 2);
  expect([...seen].sort()).toEqual(["alpha", "omega"]);
  await until(() => one.log().includes("each process allows the whole limit"));

  await one.close();
  for (let times = 0; times < 20; times++) expect(await ask()).toBe("omega");
  await other.close();
});
