/** Dataset lines for tests: a valid line of each type, and many lines with one error each. */

export const user = {
  type: "user",
  id: 1,
  public: true,
  name: "Ann",
  avatar_url: "https://cdn.example/a.png",
  created_at: "2024-01-01T00:00:00Z",
};
export const company = { type: "company", id: 1, name: "Acme", member_count: 1 };
export const role = { type: "role", id: 1, name: "Driver", hierarchy: 1 };
export const achievement = {
  type: "achievement",
  id: 1,
  name: "A",
  description: "",
  icon: "a.svg",
  kind: "x",
  tier: 0,
  points: 0,
};

const id = "must be an integer from 1 to 9007199254740991";
const count = "must be an integer from 0 to 9007199254740991";
const name = "must be a non-blank string of 1 to 200 code points";
const time =
  "must be an RFC 3339 time on a real date, with Z or an offset, such as 2024-03-09T17:05:00Z";
const avatar = "must be null, or an http(s) URL or a path of at most 2048 code points";

/** For each test: its name, an invalid line, and the beginning of the expected error message. */
export const invalidLines: [string, object | string, string][] = [
  ["invalid JSON", '{"type":"user"', "must be valid JSON"],
  ["an array", "[]", "must be a JSON object"],
  ["null", "null", "must be a JSON object"],
  ["a missing type", { id: 1 }, 'type: must be "role", "achievement", "company", "user" or "end"'],
  [
    "an unknown type",
    { ...user, type: "truck" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  [
    "a type that names a property of Object.prototype",
    { type: "constructor" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  ["an unknown field", { ...user, nick: "A" }, "nick: is not a known field"],
  [
    "an unknown field of a private user",
    { type: "user", id: 1, public: false, nick: "A" },
    "nick: is not a known field",
  ],
  ["a field name with / and ~", { ...role, "a/b~c": 1 }, "a/b~c: is not a known field"],
  ["a missing public field", { type: "user", id: 1 }, "public: is missing"],
  ["a public field that is a string", { ...user, public: "yes" }, "public: must be true or false"],
  ["a missing name", { ...user, name: undefined }, "name: is missing"],
  ["an empty name", { ...company, name: "" }, `name: ${name}`],
  ["a blank name", { ...user, name: " \u3000" }, `name: ${name}`],
  ["a name of 201 code points", { ...role, name: "😀".repeat(201) }, `name: ${name}`],
  ["a name that is a number", { ...user, name: 7 }, `name: ${name}`],
  [
    "an unpaired surrogate",
    '{"type":"role","id":1,"name":"\\ud83d","hierarchy":1}',
    `name: ${name}`,
  ],
  ["an id of 0", { ...user, id: 0 }, `id: ${id}`],
  [
    "an id of 2^53",
    '{"type":"company","id":9007199254740992,"name":"A","member_count":1}',
    `id: ${id}`,
  ],
  ["an id of 1.5", { ...role, id: 1.5 }, `id: ${id}`],
  ["an id that is a string", { ...user, id: "1" }, `id: ${id}`],
  ["a negative count", { ...company, member_count: -1 }, `member_count: ${count}`],
  ["points with a fraction", { ...achievement, points: 0.5 }, `points: ${count}`],
  ["a negative tier", { ...achievement, tier: -1 }, `tier: ${count}`],
  ["a hierarchy that is a string", { ...role, hierarchy: "high" }, "hierarchy: must be an integer"],
  [
    "a description of 501 code points",
    { ...achievement, description: "😀".repeat(501) },
    "description: must be a valid Unicode string of at most 500 code points",
  ],
  [
    "an icon of 201 code points",
    { ...achievement, icon: "i".repeat(201) },
    "icon: must be a valid Unicode string of at most 200 code points",
  ],
  [
    "a kind of 101 code points",
    { ...achievement, kind: "k".repeat(101) },
    "kind: must be a valid Unicode string of at most 100 code points",
  ],
  [
    "an avatar of 2049 code points",
    { ...user, avatar_url: `/${"a".repeat(2048)}` },
    `avatar_url: ${avatar}`,
  ],
  ["an avatar that is an object", { ...user, avatar_url: {} }, `avatar_url: ${avatar}`],
  [
    "101 roles",
    { ...user, roles: Array.from({ length: 101 }, (_, index) => index + 1) },
    "roles: must be an array of at most 100 role ids",
  ],
  [
    "a company role of 201 code points",
    { ...user, company: { id: 1, role: "r".repeat(201) } },
    `company.role: ${name}`,
  ],
  [
    "a field name with a terminal escape sequence",
    { ...role, "\u001b[31m\u202e": 1 },
    "\\u{1b}[31m\\u{202e}: is not a known field",
  ],
  [
    "a field name of a million characters",
    { ...role, ["x".repeat(1_000_000)]: 1 },
    `${"x".repeat(80)}…: is not a known field`,
  ],
  ["an end line without a lines field", { type: "end" }, "lines: is missing"],
  [
    "an end line with an unknown field",
    { type: "end", lines: 1, id: 1 },
    "id: is not a known field",
  ],
  ["a missing description", { ...achievement, description: undefined }, "description: is missing"],
  ["a time without a zone", { ...user, created_at: "2024-01-01T00:00:00" }, `created_at: ${time}`],
  [
    "a day that does not exist",
    { ...user, created_at: "2023-02-29T00:00:00Z" },
    `created_at: ${time}`,
  ],
  ["an hour of 24", { ...user, created_at: "2023-02-28T24:00:00Z" }, `created_at: ${time}`],
  ["a date without a time", { ...user, created_at: "2024-01-01" }, `created_at: ${time}`],
  [
    "an offset of 24 h",
    { ...user, created_at: "2024-01-01T00:00:00+24:00" },
    `created_at: ${time}`,
  ],
  [
    "a time before year 0 in UTC",
    { ...user, created_at: "0000-01-01T00:00:00+01:00" },
    `created_at: ${time}`,
  ],
  [
    "an avatar that starts with two slashes",
    { ...user, avatar_url: "//evil.example/a.png" },
    `avatar_url: ${avatar}`,
  ],
  [
    "an avatar that starts with a slash and a backslash",
    { ...user, avatar_url: "/\\evil.example" },
    `avatar_url: ${avatar}`,
  ],
  ["an ftp avatar", { ...user, avatar_url: "ftp://cdn.example/a.png" }, `avatar_url: ${avatar}`],
  ["a javascript: avatar", { ...user, avatar_url: "javascript:alert(1)" }, `avatar_url: ${avatar}`],
  ["an avatar without a host", { ...user, avatar_url: "https://" }, `avatar_url: ${avatar}`],
  ["an empty avatar", { ...user, avatar_url: "" }, `avatar_url: ${avatar}`],
  ["a company without a role", { ...user, company: { id: 1 } }, "company.role: is missing"],
  [
    "a company that is a number",
    { ...user, company: 1 },
    "company: must be an object with id and role, or null",
  ],
  [
    "roles that are not an array",
    { ...user, roles: 1 },
    "roles: must be an array of at most 100 role ids",
  ],
  ["a role that is a string", { ...user, roles: [1, "2"] }, `roles[1]: ${id}`],
  [
    "an unlocked_at without a zone",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: "2024-01-01T00:00:00" }] },
    `achievements[0].unlocked_at: ${time}`,
  ],
  [
    "an achievement with an unknown field",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at, x: 1 }] },
    "achievements[0].x: is not a known field",
  ],
];
