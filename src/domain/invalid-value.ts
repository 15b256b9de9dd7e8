/** An error about a value. The message continues a sentence that begins with the value's name. */
export class InvalidValue extends RangeError {
  override name = "InvalidValue";
}
