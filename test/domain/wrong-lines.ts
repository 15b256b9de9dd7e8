/** Lines of a dataset: one right of each type, and all that can be wrong in one. */

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
const name = "must be a string of 1 to 200 code points that is not blank";
const time = "must be an RFC 3339 time with Z or an offset, such as 2024-03-09T17:05:00Z";
const avatar =
  "must be an http or https URL or a path that starts with one / (not / itself, nothing under /search, /users, /api, /health, /docs, and no ..), of at most 2048 code points, or null";

/** Paths that lead to the API, by way of a browser or a proxy that decodes and merges. */
const ownPaths = [
  "/",
  "/?q=ab",
  "/.?q=ab",
  "/./?q=ab",
  "/search",
  "/search/users?q=ab",
  "/users/public/42",
  "/api/search/users?q=ab",
  "/health",
  "/health?x",
  "/docs/json",
  "/docs#x",
  "/x/../search/users?q=ab",
  "/x/..",
  "/../search/users?q=ab",
  "/avatars/..\\search/users?q=ab",
  "/x/%2E%2e/search/users?q=ab",
  "/x/.%2e/search/users?q=ab",
  "/x%2f..%2Fsearch/users?q=ab",
  "/%73earch/users?q=ab",
  "/%73%65%61%72%63%68/users?q=ab",
  "/hea%6cth",
  "/hea%6Cth",
  "/.//search/users?q=ab",
  "/./search/users?q=ab",
  "/%2E/search/users?q=ab",
  "/.\\search/users?q=ab",
  "/search\\users?q=ab",
  "/search%2Fusers?q=ab",
  "/%5csearch/users?q=ab",
  "/%2fsearch/users?q=ab",
];

/** What is wrong, the line, and what is said of it. */
export const wrongLines: [string, object | string, string][] = [
  ["no JSON", '{"type":"user"', "is not valid JSON"],
  ["a list", "[]", "must be a JSON object"],
  ["null", "null", "must be a JSON object"],
  ["no type", { id: 1 }, 'type: must be "role", "achievement", "company", "user" or "end"'],
  [
    "an unknown type",
    { ...user, type: "truck" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  [
    "a prototype's name as type",
    { type: "constructor" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  ["an unknown field", { ...user, nick: "A" }, "nick: is not a known field"],
  [
    "an unknown field of a private user",
    { type: "user", id: 1, public: false, nick: "A" },
    "nick: is not a known field",
  ],
  ["an odd field name", { ...role, "a/b~c": 1 }, "a/b~c: is not a known field"],
  ["no public", { type: "user", id: 1 }, "public: is missing"],
  ["a public that is a word", { ...user, public: "yes" }, "public: must be true or false"],
  ["no name", { ...user, name: undefined }, "name: is missing"],
  ["an empty name", { ...company, name: "" }, `name: ${name}`],
  ["a blank name", { ...user, name: " \u3000" }, `name: ${name}`],
  ["a name of 201", { ...role, name: "😀".repeat(201) }, `name: ${name}`],
  ["a name that is a number", { ...user, name: 7 }, `name: ${name}`],
  [
    "half a surrogate pair",
    '{"type":"role","id":1,"name":"\\ud83d","hierarchy":1}',
    `name: ${name}`,
  ],
  ["id 0", { ...user, id: 0 }, `id: ${id}`],
  ["id 2^53", '{"type":"company","id":9007199254740992,"name":"A","member_count":1}', `id: ${id}`],
  ["id 1.5", { ...role, id: 1.5 }, `id: ${id}`],
  ["an id in quotes", { ...user, id: "1" }, `id: ${id}`],
  ["a negative count", { ...company, member_count: -1 }, `member_count: ${count}`],
  ["half a point", { ...achievement, points: 0.5 }, `points: ${count}`],
  ["a negative tier", { ...achievement, tier: -1 }, `tier: ${count}`],
  ["a hierarchy in words", { ...role, hierarchy: "high" }, "hierarchy: must be an integer"],
  [
    "a field twice",
    '{"type":"user","id":1,"public":false,"name":"A","public":true}',
    "public: appears more than once",
  ],
  [
    "a field twice, once escaped",
    '{"type":"user","id":1,"public":false,"p\\u0075blic" : false}',
    "public: appears more than once",
  ],
  [
    "a field twice, deep inside",
    `{"type":"user","id":1,"public":false,"achievements":[{"id":1,"tier":1,"unlocked_at":"${user.created_at}"},{"id":2,"tier":1,"id":2,"unlocked_at":"${user.created_at}"}]}`,
    "achievements[1].id: appears more than once",
  ],
  [
    "a description of 501",
    { ...achievement, description: "😀".repeat(501) },
    "description: must be a string of at most 500 code points of valid Unicode",
  ],
  [
    "an icon of 201",
    { ...achievement, icon: "i".repeat(201) },
    "icon: must be a string of at most 200 code points of valid Unicode",
  ],
  [
    "a kind of 101",
    { ...achievement, kind: "k".repeat(101) },
    "kind: must be a string of at most 100 code points of valid Unicode",
  ],
  ["an avatar of 2049", { ...user, avatar_url: `/${"a".repeat(2048)}` }, `avatar_url: ${avatar}`],
  ["an avatar that is an object", { ...user, avatar_url: {} }, `avatar_url: ${avatar}`],
  [
    "roles of 1001",
    { ...user, roles: Array.from({ length: 1001 }, (_, index) => index + 1) },
    "roles: must be a list of at most 1000 role ids",
  ],
  [
    "achievements of 1001",
    {
      ...user,
      achievements: Array.from({ length: 1001 }, (_, index) => ({
        id: index + 1,
        tier: 1,
        unlocked_at: user.created_at,
      })),
    },
    "achievements: must be a list of at most 1000 objects",
  ],
  [
    "a company role of 201",
    { ...user, company: { id: 1, role: "r".repeat(201) } },
    `company.role: ${name}`,
  ],
  [
    "an odd field name, which a terminal would act on",
    { ...role, "\u001b[31m\u202e": 1 },
    "\\u{1b}[31m\\u{202e}: is not a known field",
  ],
  [
    "a field name of a million characters",
    { ...role, ["x".repeat(1_000_000)]: 1 },
    `${"x".repeat(80)}…: is not a known field`,
  ],
  ["an end without a number", { type: "end" }, "lines: is missing"],
  ["an end with more", { type: "end", lines: 1, id: 1 }, "id: is not a known field"],
  ["no description", { ...achievement, description: undefined }, "description: is missing"],
  ["a time without zone", { ...user, created_at: "2024-01-01T00:00:00" }, `created_at: ${time}`],
  [
    "a day that never was",
    { ...user, created_at: "2023-02-29T00:00:00Z" },
    "created_at: must be a day that exists",
  ],
  ["an hour 24", { ...user, created_at: "2023-02-28T24:00:00Z" }, `created_at: ${time}`],
  ["a date alone", { ...user, created_at: "2024-01-01" }, `created_at: ${time}`],
  [
    "an offset of 24 h",
    { ...user, created_at: "2024-01-01T00:00:00+24:00" },
    `created_at: ${time}`,
  ],
  [
    "a year before 0 in UTC",
    { ...user, created_at: "0000-01-01T00:00:00+01:00" },
    `created_at: ${time}`,
  ],
  [
    "an avatar of two slashes",
    { ...user, avatar_url: "//evil.example/a.png" },
    `avatar_url: ${avatar}`,
  ],
  [
    "an avatar of a slash and a backslash",
    { ...user, avatar_url: "/\\evil.example" },
    `avatar_url: ${avatar}`,
  ],
  ...ownPaths.map((path): [string, object, string] => [
    `an avatar that leads to the API: ${path}`,
    { ...user, avatar_url: path },
    `avatar_url: ${avatar}`,
  ]),
  ["an ftp avatar", { ...user, avatar_url: "ftp://cdn.example/a.png" }, `avatar_url: ${avatar}`],
  ["a script as avatar", { ...user, avatar_url: "javascript:alert(1)" }, `avatar_url: ${avatar}`],
  ["an avatar without host", { ...user, avatar_url: "https://" }, `avatar_url: ${avatar}`],
  ["an empty avatar", { ...user, avatar_url: "" }, `avatar_url: ${avatar}`],
  ["a company without role", { ...user, company: { id: 1 } }, "company.role: is missing"],
  [
    "a company that is a number",
    { ...user, company: 1 },
    "company: must be null or an object with id and role",
  ],
  [
    "roles that are no list",
    { ...user, roles: 1 },
    "roles: must be a list of at most 1000 role ids",
  ],
  ["a role in quotes", { ...user, roles: [1, "2"] }, `roles[1]: ${id}`],
  [
    "an unlock without zone",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: "2024-01-01T00:00:00" }] },
    `achievements[0].unlocked_at: ${time}`,
  ],
  [
    "an unlock with more",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at, x: 1 }] },
    "achievements[0].x: is not a known field",
  ],
];
