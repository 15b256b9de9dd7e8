/** Reports incorrect usage, for which a command exits with 2. The message is for the operator. */
export class UsageError extends RangeError {
  override name = "UsageError";
}
