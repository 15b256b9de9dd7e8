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
 * A schema without what is only TypeBox's or only ours. A schema in it for which `referenceTo` has a
 * reference is that reference.
 */
export function toJsonSchema(
  schema: TSchema,
  referenceTo: (schema: TSchema) => string | undefined = () => undefined,
): Record<string, unknown> {
  const inner = (one: TSchema) => {
    const $ref = referenceTo(one);
    return $ref ? { $ref } : toJsonSchema(one, referenceTo);
  };
  const { anyOf, items, properties, format, ...rest } = schema;
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
