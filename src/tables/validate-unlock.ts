/** Validates a row of user_achievements, whose error names the row and not only the user. */
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { RawRecord } from "../domain/dataset.ts";
import { UnlockedAchievement } from "../domain/model.ts";
import { listErrors, type ValidationError } from "../domain/validation-errors.ts";

/** The id may be a key, and is checked with the achievements. */
const shape = TypeCompiler.Compile(
  Type.Object({ ...UnlockedAchievement.properties, id: Type.Unknown() }),
);

/** Returns the errors in the tier and the time of a user's achievement. */
export function validateUnlock(unlock: RawRecord): ValidationError[] {
  return shape.Check(unlock) ? [] : listErrors(shape.Errors(unlock), false);
}
