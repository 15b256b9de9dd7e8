/**
 * The dataset's lines as JSON Schema 2020-12, made of the schemas that the lines are checked with, in
 * keywords that any validator knows. What no schema can say stays with the import: that ids come once,
 * references lead somewhere, and the end line is the last.
 */
import { AchievementLine } from "./achievement.ts";
import { CompanyLine } from "./company.ts";
import { DeletionLine, EndLine } from "./dataset.ts";
import { toJsonSchema } from "./formats.ts";
import { RoleLine } from "./role.ts";
import { PrivateUserLine, PublicUserLine } from "./user.ts";

/** The document: one line of a dataset, and under `$defs` one line of a change file. */
export function datasetSchema(): Record<string, unknown> {
  const lines = {
    role: RoleLine,
    achievement: AchievementLine,
    company: CompanyLine,
    publicUser: PublicUserLine,
    privateUser: PrivateUserLine,
    end: EndLine,
    deletion: DeletionLine,
  };
  const $defs = Object.fromEntries(
    Object.entries(lines).map(([name, schema]) => [name, toJsonSchema(schema)]),
  );
  const references = Object.keys(lines).map((name) => ({ $ref: `#/$defs/${name}` }));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of a Roadbook dataset",
    description: "A line of a change file is one of these or a deletion: see $defs/change.",
    anyOf: references.slice(0, -1),
    $defs: { ...$defs, change: { anyOf: references } },
  };
}
