/**
 * The package's exports: the library, its input and output types, and its errors.
 *
 * @example
 * // A test serves what it needs, and calls it through a port or, without one, with `fetch`.
 * await using roadbook = await createRoadbook({
 *   dataset: [{ type: "user", id: 43, public: false }],
 *   searchLimit: 0,
 * });
 * const { url } = await roadbook.listen();
 * const response = await fetch(`${url}/users/public/43`); // 403
 *
 * // A program builds a snapshot file and changes it. A server notices both.
 * await importDataset("my-tables", "community.snapshot");
 * await applyChanges([{ type: "user", id: 42, public: false }], "community.snapshot");
 */
import "./server/require-runtime.ts";
import type {
  AchievementEntry,
  CompanySearchResult,
  User,
  UserSearchResult,
} from "./domain/model.ts";
import { type ApplyOptions, applyChanges as applyLines } from "./import/apply.ts";
import {
  type ImportOptions,
  importDataset as importLines,
  type WriteReport,
} from "./import/import.ts";
import { type Changes, createRoadbook as create, type Roadbook } from "./roadbook.ts";
import type { Dataset, RoadbookOptions } from "./settings/library-options.ts";

export type { ChangeLine, DatasetLine, DeletionLine, EndLine, IdsLine } from "./domain/dataset.ts";
export type {
  Achievement,
  AchievementEntry,
  AchievementLine,
  CompanyLine,
  CompanyReference,
  CompanySearchResult,
  PrivateUserLine,
  PublicUserLine,
  Role,
  RoleLine,
  User,
  UserSearchResult,
} from "./domain/model.ts";
export type { RecordError } from "./domain/records.ts";
export { version } from "./domain/version.ts";
export type { ResponseFacts } from "./http/app-options.ts";
export type { ErrorCode } from "./http/endpoints.ts";
export type { ErrorBody } from "./http/errors.ts";
export type { HealthBody } from "./http/health.ts";
export type { FetchHandler } from "./http/request.ts";
export type { Peer } from "./http/request-context.ts";
export type { ApplyOptions } from "./import/apply.ts";
export type { Differences } from "./import/guard.ts";
export type { ImportOptions, WriteReport } from "./import/import.ts";
export { DatasetError, type RecordErrors } from "./import/record-errors.ts";
export type { LimiterStatus } from "./limit/limiter.ts";
export type { Changes, Listening, ListenOptions, Roadbook } from "./roadbook.ts";
export { fold } from "./search/fold.ts";
export type { NodeListener } from "./server/node-listener.ts";
export type { Dataset, RoadbookOptions } from "./settings/library-options.ts";
export { SnapshotError } from "./snapshot/format/layout.ts";
export type { Counts, Meta } from "./snapshot/format/meta.ts";
export { checkSnapshot } from "./snapshot/format/open.ts";
export { exportDataset } from "./snapshot/format/records.ts";
export type { Replacement } from "./snapshot/read/reload.ts";

/**
 * Builds a snapshot file, like the `import` command. Only a dry run can have no `target`, or an
 * empty one.
 */
export const importDataset: (
  lines: Dataset,
  target: string | undefined,
  options?: ImportOptions,
) => Promise<WriteReport> = (lines, target, options) =>
  importLines(lines, target || undefined, options);

/** Changes a snapshot file, like the `apply` command. */
export const applyChanges: (
  lines: Changes,
  target: string,
  options?: ApplyOptions,
) => Promise<WriteReport> = applyLines;

/** The same function as `createRoadbook` in `roadbook/elysia`, but without the type of `app`. */
export const createRoadbook: (options: RoadbookOptions) => Promise<Roadbook> = create;

/** The response bodies of the API's endpoints, beside `HealthBody`. */
export type PublicUserBody = { success: true; user: User };
export type UserAchievementsBody = { success: true; achievements: AchievementEntry[] };
export type CompanySearchBody = { success: true; companies: CompanySearchResult[] };
export type UserSearchBody = { success: true; users: UserSearchResult[] };
