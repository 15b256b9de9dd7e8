/** Says how many of something there are. */
import type { Counts } from "../snapshot/format/counts.ts";

export function describeCounts(counts: Counts): string {
  const publicUsers = counts.public_users.toLocaleString("en");
  const users = `${plural(counts.users, "user")} (${publicUsers} public)`;
  const companies = plural(counts.companies, "company", "companies");
  const achievements = plural(counts.achievements, "achievement");
  return `${users}, ${companies}, ${achievements}, ${plural(counts.roles, "role")}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
