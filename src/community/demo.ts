/**
 * The demo: a community with a fixed seed that includes the companies and notable drivers from
 * data/demo.json. A driver's `note` in that file is a comment and is never shown.
 */
import demo from "../../data/demo.json" with { type: "json" };
import type { DatasetLine } from "../domain/dataset.ts";
import { seedDataset } from "./community.ts";

export function demoDataset(): Generator<DatasetLine> {
  const givenCompanies = demo.companies.map((company) => {
    const isOwned = demo.users.some(
      (user) => user.role === "Owner" && user.company === company.name,
    );
    return { tag: "", members: 0, ...company, isOwned };
  });
  const givenUsers = new Map(
    demo.users.map(({ id, company, role, ...given }) => {
      const index = demo.companies.findIndex(({ name }) => name === company);
      return [id, role ? { ...given, company: { id: index + 1, role } } : given];
    }),
  );
  const companies = givenCompanies.length;
  return seedDataset({ users: 3000, companies, seed: 42, givenCompanies, givenUsers });
}
