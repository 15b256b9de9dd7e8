/** Calls every operation without a type cast. `api-types.ts` is generated when the test runs. */
import createClient from "openapi-fetch";
import type { paths } from "./api-types.ts";

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" });
const at = (userId: number) => ({ params: { path: { userId } } });
const query = { params: { query: { q: "nowak" } } };

const { data: profile, error: problem } = await client.GET("/users/public/{userId}", at(42));
if (problem) throw new Error(problem.error.message);
const company: string | undefined = profile.user.company?.name;
const { data: other } = await client.GET("/users/public/{userId}", at(45));
const noCompany: { role: string } | null | undefined = other?.user.company;
const { error } = await client.GET("/users/public/{userId}", at(43));
const code: string | undefined = error?.error.code;
const { data: unlocked } = await client.GET("/users/{userId}/achievements", at(42));
const points: number[] = unlocked?.achievements.map((entry) => entry.achievement.points) ?? [];
const { data: users } = await client.GET("/search/users", query);
const companies: (string | null)[] = users?.users.map((user) => user.company) ?? [];
const { data: found } = await client.GET("/search/companies", query);
const members: number[] = found?.companies.map((each) => each.member_count) ?? [];
const { error: limited } = await client.GET("/search/users", query);
const seconds: number | undefined = limited?.error.retry_after;
const { data: health } = await client.GET("/health");
const count: number | undefined = health?.snapshot.counts.public_users;

console.log(
  JSON.stringify({ company, noCompany, code, points, companies, members, seconds, count }),
);
