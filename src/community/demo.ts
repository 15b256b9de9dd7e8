/**
 * The demo: a community with a fixed seed, in which the companies and the notable drivers of
 * data/demo.json have their places.
 */
import demo from "../../data/demo.json" with { type: "json" };
import type { DatasetLine } from "../domain/dataset.ts";
import { type GivenUser, seedDataset } from "./community.ts";

interface NotableDriver extends Omit<GivenUser, "company"> {
  id: number;
  /** By name. */
  company?: string;
  role?: string;
  /** A sentence about the driver. */
  note?: string;
}

const drivers: readonly NotableDriver[] = demo.users;

export function demoDataset(): Generator<DatasetLine> {
  const owned = new Set(
    drivers.filter(({ role }) => role === "Owner").map(({ company }) => company),
  );
  const givenCompanies = demo.companies.map(({ name, language, tag = "", members = 0 }) => {
    return { name, language, tag, members, isOwned: owned.has(name) };
  });
  const givenUsers = new Map(
    drivers.map(({ id, company, role, ...given }) => {
      const index = demo.companies.findIndex(({ name }) => name === company);
      return [id, role ? { ...given, company: { id: index + 1, role } } : given];
    }),
  );
  const companies = givenCompanies.length;
  return seedDataset({ users: 3000, companies, seed: 42, givenCompanies, givenUsers });
}
