/** Groonga, a search server that Debian has: an index of bigrams, asked over HTTP, its cache off. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { fold } from "../../../src/search/fold.ts";
import { findFreePort, temporaryFolder, until } from "../../../test/support.ts";
import { stopper } from "../server.ts";
import { NAMES, type Name, type Rival } from "./sqlite.ts";

/** Letters, digits and symbols as bigrams too, or it would find nothing inside a word. */
const TOKENIZER = "TokenBigramSplitSymbolAlphaDigit";

/** Undefined where Groonga is not installed. */
export async function openGroonga(snapshot: string): Promise<Rival | undefined> {
  if (!Bun.which("groonga")) return undefined;
  const folder = temporaryFolder();
  const port = findFreePort();
  const listen = ["--protocol", "http", "--bind-address", "127.0.0.1", "-p", `${port}`];
  const child = Bun.spawn(["groonga", ...listen, "-s", "-n", join(folder, "db")], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  const close = stopper(child);
  const send = async (command: string, fields: Record<string, string> = {}, body?: string) => {
    const url = `http://127.0.0.1:${port}/d/${command}?${new URLSearchParams(fields)}`;
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, body ? { method: "POST", body, headers } : {});
    const [[code, , , message], result] = (await response.json()) as [unknown[], unknown];
    if (code !== 0) throw new Error(`groonga ${command}: ${message}`);
    return result;
  };
  await until(() => send("status").catch(() => undefined));
  await send("table_create", { name: "Name", flags: "TABLE_NO_KEY" });
  await send("column_create", {
    table: "Name",
    name: "folded",
    flags: "COLUMN_SCALAR",
    type: "ShortText",
  });
  const db = new Database(snapshot, { readonly: true });
  const names = db.query<Name, []>(NAMES).all();
  db.close();
  for (let from = 0; from < names.length; from += 100_000) {
    const values = names.slice(from, from + 100_000).map(({ folded }) => ({ folded }));
    await send("load", { table: "Name" }, JSON.stringify(values));
  }
  await send("table_create", {
    name: "Bigram",
    flags: "TABLE_PAT_KEY",
    key_type: "ShortText",
    default_tokenizer: TOKENIZER,
    normalizer: "NormalizerAuto",
  });
  await send("column_create", {
    table: "Bigram",
    name: "names",
    flags: "COLUMN_INDEX|WITH_POSITION",
    type: "Name",
    source: "folded",
  });
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
