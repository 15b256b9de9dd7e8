/**
 * The pages: their paths, also of the files around them, and their contents. A driver is a user who has a
 * public profile.
 */
import type { Texts } from "../domain/languages.ts";
import type {
  AchievementEntry,
  CompanySearchResult,
  Stored,
  User,
  UserSearchResult,
} from "../domain/model.ts";
import { hash } from "../files/bytes.ts";

/** The reference of the API, the OpenAPI document that it shows, and its script. */
export const DOCS_PATH = "/docs";
export const DOCUMENT_PATH = "/docs/json";
export const DOCS_SCRIPT_PATH = "/docs/scalar.js";

export const FAVICON_PATH = "/favicon.svg";
export const SITEMAP_PATH = "/sitemap.xml";

const DRIVERS_FOLDER = "/drivers/";
const COMPANIES_FOLDER = "/companies/";

// The id or the file may also be the name of a route's parameter, such as `:file`.

export const driverPath = <Id extends number | string>(id: Id) => `${DRIVERS_FOLDER}${id}` as const;

export const companyPath = <Id extends number | string>(id: Id) =>
  `${COMPANIES_FOLDER}${id}` as const;

/** The path of a script, a style sheet or a logo. */
export const assetPath = <File extends string>(file: File) => `/assets/${file}` as const;

/** The name of a file that changes with its content, because browsers keep such a file for a year. */
export const versioned = (name: string, content: string | Uint8Array, ending: string) =>
  `${name}-${hash("SHA256", content, "hex").slice(0, 12)}.${ending}`;

/** The path of the drawing of an achievement. */
export const iconPath = <File extends string>(file: File) => `/icons/${file}` as const;

/** The fields of a driver that a picture depends on. */
export type Face = Pick<Stored<User>, "id" | "name" | "avatar_url">;

export type View = StartView | ResultsView | DriverView | CompanyView | ProblemView;

export interface StartView {
  kind: "start";
  drivers: Stored<User>[];
  /** Whether to say that names in another script can be typed in Latin letters, as on a kiosk. */
  needsScriptHint: boolean;
  /** As on the page of a company, if everybody is shown. */
  after: number;
  next: number | undefined;
}

export interface ResultsView extends Found {
  kind: "results";
  /** With its white space collapsed. */
  query: string;
  /** Given if nothing is found: names that differ from the query by a slip or two. */
  similar?: Found;
}

export interface Found {
  drivers: (Stored<UserSearchResult> & Pick<User, "created_at">)[];
  companies: CompanySearchResult[];
}

export interface DriverView {
  kind: "driver";
  user: Stored<User>;
  /** All of them, newest first. */
  achievements: AchievementEntry[];
  /** All in pages, of which each begins after so many; undefined for the newest. */
  allAfter: number | undefined;
}

export interface CompanyView {
  kind: "company";
  company: CompanySearchResult;
  drivers: (Face & { company_role: string | null })[];
  /** Undefined if there are too many to count. */
  publicMembers: number | undefined;
  /** Only drivers whose ids are above this are shown. */
  after: number;
  /** The same for the next page, if there is one. */
  next: number | undefined;
}

export interface ProblemView {
  kind: "problem";
  problem: Exclude<keyof Texts["problems"], "nothing">;
  /** Given if the page replaces a page of results. */
  query?: string;
  /** Until the next search or, without a query, the next page of a company is allowed. */
  waitSeconds?: number;
}
