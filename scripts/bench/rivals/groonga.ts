/** Groonga, a search server that Debian has: an index of bigrams, asked over HTTP, its cache off. */
import { join } from "node:path";
import { fold } from "../../../src/search/fold.ts";
import { findFreePort, temporaryFolder, until } from "../../../test/support.ts";
import { spawnQuiet } from "../server.ts";
import { type Rival, readNames } from "./sqlite.ts";

/** Letters, digits and symbols as bigrams too, or it would find nothing inside a word. */
const TOKENIZER = "TokenBigramSplitSymbolAlphaDigit";

/** Undefined where Groonga is not installed. */
export async function openGroonga(snapshot: string): Promise<Rival | undefined> {
  if (!Bun.which("groonga")) return undefined;
  const folder = temporaryFolder();
  const port = findFreePort();
  const listen = ["--protocol", "http", "--bind-address", "127.0.0.1", "-p", `${port}`];
  const close = spawnQuiet(["groonga", ...listen, "-s", "-n", join(folder, "db")], folder);
  const send = async (command: string, fields: Record<string, string> = {}, body?: string) => {
    const url = `http://127.0.0.1:${port}/d/${command}?${new URLSearchParams(fields)}`;
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, body ? { method: "POST", body, headers } : {});
    const [[code, , , message], result] = (await response.json()) as [unknown[], unknown];
    if (code !== 0) throw new Error(`groonga ${command}: ${message}`);
    return result;
  };
  await until(() => send("status").catch(() => undefined));
  const words = { type: "ShortText", flags: "COLUMN_SCALAR" };
  await send("table_create", { name: "Name", flags: "TABLE_NO_KEY" });
  await send("column_create", { table: "Name", name: "folded", ...words });
  const names = readNames(snapshot).map(({ folded }) => ({ folded }));
  for (let at = 0; at < names.length; at += 100_000)
    await send("load", { table: "Name" }, JSON.stringify(names.slice(at, at + 100_000)));
  const key = { key_type: "ShortText", default_tokenizer: TOKENIZER, normalizer: "NormalizerAuto" };
  await send("table_create", { name: "Bigram", flags: "TABLE_PAT_KEY", ...key });
  const index = { flags: "COLUMN_INDEX|WITH_POSITION", type: "Name", source: "folded" };
  await send("column_create", { table: "Bigram", name: "names", ...index });
  return {
    find: (query) =>
      send("select", {
        table: "Name",
        match_columns: "folded",
        query: `"${fold(query).replaceAll(/["\\]/g, "\\$&")}"`,
        sort_keys: "_id",
        output_columns: "_id",
        limit: "10",
        cache: "no",
      }),
    close,
  };
}
