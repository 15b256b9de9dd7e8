/**
 * The formats that our schemas name, in the keywords of JSON Schema. Apart from the dataset's lines,
 * whose compiled checks take 4 ms of a start: the API's document needs these alone.
 */

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
export function keywordsOf(format: string): Record<string, unknown> {
  const [, maxLength] = /^text-(\d+)$/.exec(format) ?? [];
  return maxLength ? { maxLength: Number(maxLength) } : (formats[format] ?? { format });
}
