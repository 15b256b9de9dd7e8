/** Finds one part of a user's document by the user's id. */
import { eq, sql } from "drizzle-orm";
import type { Database } from "../../sqlite/driver.ts";
import { boundedText, textOf } from "../format/bounds.ts";
import { MAX_DOCUMENT_BYTES } from "../format/document.ts";
import { user } from "../format/schema.ts";

/** Returns a function from an id to the text of that column; undefined for a user who is not public. */
export function prepareFind(db: Database, column: "profile" | "achievements") {
  const find = db
    .select({ text: boundedText(user[column], MAX_DOCUMENT_BYTES) })
    .from(user)
    .where(eq(user.id, sql.placeholder("id")))
    .prepare();
  return (id: number): string | undefined => {
    const row = find.get({ id });
    return row && textOf(row.text);
  };
}
