/**
 * Owns what an operator waits for besides the import: apply, export, check, and how soon a running
 * server answers from a changed file. Through the executable, beside the SHA-256 of the snapshot, as
 * whoever reads or writes one reads at least as much.
 */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../src/community/random.ts";
import { temporaryFolder } from "../../test/support.ts";
import { alternate, type Community, compare, type Row, timed } from "./measure.ts";
import { buildSnapshot, command, createDraw, openRoadbook, untilAnother } from "./server.ts";

const ROUNDS = 5;
const CHANGES = 1000;

export async function* benchSnapshots({ size, users }: Community): AsyncGenerator<Row> {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const [snapshot, served, spare] = [at("snapshot"), at("served"), at("spare")];
  for (const copy of [snapshot, served]) copyFileSync(await buildSnapshot(users), copy);

  const draw = createDraw(users, createRandom(3));
  const ids = new Set<number>();
  while (ids.size < (CHANGES + 3) * ROUNDS) ids.add(draw().id);
  const left = [...ids];
  const apply = (ids: number[], to: string) => {
    const lines = ids.map((id) => `{"type":"user","id":${id},"public":false}\n`);
    writeFileSync(at("changes"), lines.join(""));
    return command("apply", at("changes"), "--to", to);
  };
  const server = await openRoadbook(["--snapshot", served]);
  /** Each in milliseconds. */
  const steps: Record<string, () => Promise<number>> = {
    "SHA-256": () =>
      timed(() => new Bun.CryptoHasher("sha256").update(readFileSync(snapshot)).digest()),
    check: () => timed(() => command("check", snapshot)),
    export: () => timed(() => command("export", snapshot, "--to", at("export"))),
    "apply: one user goes private": () => timed(() => apply(left.splice(-1), snapshot)),
    "apply: a thousand go private": () => timed(() => apply(left.splice(-CHANGES), snapshot)),
    "apply: one, until a running server answers so": () =>
      timed(async () => {
        const [id = 0] = left.splice(-1);
        const applied = apply([id], served);
        while ((await server.fetch(`/users/public/${id}`)).status !== 403) await Bun.sleep(1);
        await applied;
      }),
    "rename and SIGHUP, until it answers from the new file": async () => {
      await apply(left.splice(-1), snapshot);
      return untilAnother(server, () => {
        // The files change places while the server looks away.
        process.kill(server.pid, "SIGSTOP");
        renameSync(served, spare);
        renameSync(snapshot, served);
        renameSync(spare, snapshot);
        process.kill(server.pid, "SIGHUP");
        process.kill(server.pid, "SIGCONT");
      });
    },
  };
  const results = await alternate(ROUNDS, steps, (step) => step());
  const [hash = "", ...others] = Object.keys(steps);
  for (const step of others) {
    yield compare({
      name: `${step}, ${size}`,
      beside: `${hash} of the snapshot`,
      unit: "ms",
      as: "cost",
      ours: results(step),
      theirs: results(hash),
      headline: /check|one user|SIGHUP/.test(step),
    });
  }
  rmSync(folder, { recursive: true });
}
