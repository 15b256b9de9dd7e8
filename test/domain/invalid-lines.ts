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
const roles = "roles: must be an array of at most 100 role ids";
const text = (max: number) => `must be a valid Unicode string of at most ${max} code points`;
const unlock = { id: 1, tier: 1, unlocked_at: user.created_at };
const avatar = "must be null, or an http(s) URL or a path of at most 2048 code points";

const types = 'type: must be "role", "achievement", "company", "user" or "end"';
const ofRole = (more: object) => ({ ...role, ...more });
const ofUser = (more: object) => ({ ...user, ...more });
const ofPlan = (more: object) => ({ ...achievement, ...more });

/** Invalid lines, each with the beginning of the expected error message. */
export const invalidLines: [expected: string, line: object | string][] = [
  ["must be a valid JSON object", '{"type":"user"'],
  ["must be a valid JSON object", "[]"],
  [types, { id: 1 }],
  [types, ofUser({ type: "truck" })],
  ["nick: is not a known field", ofUser({ nick: "A" })],
  ["a/b~c: is not a known field", ofRole({ "a/b~c": 1 })],
  ["\\u{1b}[31m\\u{202e}: is not a known field", ofRole({ "\u001b[31m\u202e": 1 })],
  [`${"x".repeat(80)}…: is not a known field`, ofRole({ ["x".repeat(1_000_000)]: 1 })],
  ["public: is missing", { type: "user", id: 1 }],
  ["public: must be true or false", ofUser({ public: "yes" })],
  ["name: is missing", ofUser({ name: undefined })],
  [`name: ${name}`, { ...company, name: "" }],
  [`name: ${name}`, ofUser({ name: " \u3000" })],
  [`name: ${name}`, ofRole({ name: "😀".repeat(201) })],
  [`name: ${name}`, '{"type":"role","id":1,"name":"\\ud83d","hierarchy":1}'],
  [`id: ${id}`, ofUser({ id: 0 })],
  [`id: ${id}`, { ...company, id: 2 ** 53 }],
  [`id: ${id}`, ofRole({ id: 1.5 })],
  [`id: ${id}`, ofUser({ id: "1" })],
  [`member_count: ${count}`, { ...company, member_count: -1 }],
  [`points: ${count}`, ofPlan({ points: 0.5 })],
  ["hierarchy: must be an integer", ofRole({ hierarchy: 2 ** 53 })],
  ["description: is missing", ofPlan({ description: undefined })],
  [`description: ${text(500)}`, ofPlan({ description: "😀".repeat(501) })],
  [`icon: ${text(200)}`, ofPlan({ icon: "i".repeat(201) })],
  [`kind: ${text(100)}`, ofPlan({ kind: "k".repeat(101) })],
  ["lines: is missing", { type: "end" }],
  ["id: is not a known field", { type: "end", lines: 1, id: 1 }],
  ...["2024-01-01T00:00:00", "2023-02-29T00:00:00Z"].map((created_at): [string, object] => [
    `created_at: ${time}`,
    ofUser({ created_at }),
  ]),
  ...[
    {},
    `/${"a".repeat(2048)}`,
    "//evil.example/a.png",
    "/\\evil.example",
    "/a b.png",
    "/a\u0000.png",
    "javascript:alert(1)",
    "https://",
    "",
  ].map((avatar_url): [string, object] => [`avatar_url: ${avatar}`, ofUser({ avatar_url })]),
  ["company.role: is missing", ofUser({ company: { id: 1 } })],
  [`company.role: ${name}`, ofUser({ company: { id: 1, role: "r".repeat(201) } })],
  ["company: must be an object with id and role, or null", ofUser({ company: 1 })],
  [roles, ofUser({ roles: 1 })],
  [roles, ofUser({ roles: Array.from({ length: 101 }, (_, at) => at + 1) })],
  [`roles[1]: ${id}`, ofUser({ roles: [1, "2"] })],
  [
    `achievements[0].unlocked_at: ${time}`,
    ofUser({ achievements: [{ ...unlock, unlocked_at: "" }] }),
  ],
  ["achievements[0].x: is not a known field", ofUser({ achievements: [{ ...unlock, x: 1 }] })],
];
