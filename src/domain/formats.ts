/**
 * Our schemas as JSON Schema, with the formats that they name in its keywords. Apart from the dataset's
 * lines, whose compiled checks take 4 ms of a start: the API's document needs this alone.
 */
import type { TSchema } from "@sinclair/typebox";

/** The lengths of the standard count code points as ours do. */
const formats: Record<string, Record<string, unknown>> = {
  name: { minLength: 1, maxLength: 200, pattern: "\\S" },
  timestamp: {
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$",
  },
  avatar: { maxLength: 2048, pattern: "^([Hh][Tt][Tt][Pp][Ss]?://[^/\\s]|/(?![/\\\\]))\\S*$" },
};

/** The standard keywords of one of our formats, or the format where it is a standard one. */
function keywordsOf(format: string): Record<string, unknown> {
  const [, maxLength] = /^text-(\d+)$/.exec(format) ?? [];
  return maxLength ? { maxLength: Number(maxLength) } : (formats[format] ?? { format });
}

/**
 * A schema without what is only TypeBox's or only ours. In it, a schema that `references` has is that
 * reference.
 */
export function toJsonSchema(
  { anyOf, items, properties, format, ...rest }: TSchema,
  references = new Map<TSchema, string>(),
): Record<string, unknown> {
  const inner = (schema: TSchema) => {
    const $ref = references.get(schema);
    return $ref ? { $ref } : toJsonSchema(schema, references);
  };
  return {
    ...rest,
    ...(typeof format === "string" && keywordsOf(format)),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(items && { items: inner(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries<TSchema>(properties).map(([key, value]) => [key, inner(value)]),
      ),
    }),
  };
}
