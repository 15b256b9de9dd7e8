/** What the package exports: the library, the shapes of what goes in and comes out, and its errors. */
import type { AchievementEntry } from "./domain/achievement.ts";
import type { CompanySearchResult } from "./domain/company.ts";
import type { ErrorCode } from "./domain/error.ts";
import type { User, UserSearchResult } from "./domain/user.ts";
import type { LimiterStatus } from "./limit/limiter.ts";
import { createRoadbook as create, type Roadbook, type RoadbookOptions } from "./roadbook.ts";
import type { Meta } from "./snapshot/format/meta.ts";
import type { SourceStatus } from "./snapshot/remote/source.ts";

export type { Achievement, AchievementEntry, AchievementLine } from "./domain/achievement.ts";
export type { CompanyLine, CompanyReference, CompanySearchResult } from "./domain/company.ts";
export type { ChangeLine, DatasetLine, DeletionLine, EndLine } from "./domain/dataset.ts";
export type { ErrorCode } from "./domain/error.ts";
export type { Role, RoleLine } from "./domain/role.ts";
export type { PrivateUserLine, PublicUserLine, User, UserSearchResult } from "./domain/user.ts";
export { version } from "./domain/version.ts";
export type { Fault } from "./faults.ts";
export type { Fetch } from "./http/app.ts";
export type { DocsScript } from "./http/docs.ts";
export type { Peer, ResponseFacts } from "./http/exchange.ts";
export type { PageAssets, PageOptions } from "./http/pages.ts";
export type { Decision, Limiter, LimiterStatus } from "./limit/limiter.ts";
export type { Listening, ListenOptions, Roadbook, RoadbookOptions } from "./roadbook.ts";

export { fold } from "./search/fold.ts";
export { applyChanges } from "./snapshot/build/apply.ts";
export type { Lines, ReadOptions } from "./snapshot/build/dataset.ts";
export { type Imported, type ImportOptions, importDataset } from "./snapshot/build/import.ts";
export { DatasetError, type LineError, type LineErrors } from "./snapshot/build/line-errors.ts";
export { GuardError } from "./snapshot/build/shrink-guard.ts";
export type { Counts, Meta } from "./snapshot/format/meta.ts";
export { checkSnapshot } from "./snapshot/read/check.ts";
export { exportDataset } from "./snapshot/read/export.ts";
export { SnapshotError } from "./snapshot/read/open.ts";
export type { Replacement } from "./snapshot/read/reloadable.ts";
export type { SourceStatus } from "./snapshot/remote/source.ts";

/** `createRoadbook` of `roadbook/elysia` without the type of `app`. */
export const createRoadbook: (options: RoadbookOptions) => Promise<Roadbook> = create;

/** The bodies of the four endpoints. */
export type PublicUserBody = { success: true; user: User };
export type UserAchievementsBody = { success: true; achievements: AchievementEntry[] };
export type CompanySearchBody = { success: true; companies: CompanySearchResult[] };
export type UserSearchBody = { success: true; users: UserSearchResult[] };

/** The body of every response outside 2xx and 3xx. */
export interface ErrorBody {
  success: false;
  error: {
    code: ErrorCode;
    message: string;
    /** Whole seconds to wait, only with `rate_limited`. */
    retry_after?: number;
  };
}

/** The body of /health. */
export interface HealthBody {
  success: true;
  api_version: string;
  version: string;
  snapshot: Pick<Meta, "built_at" | "dataset_sha256" | "counts">;
  refused_replacement: string | null;
  snapshot_source: SourceStatus | null;
  search_limit: Pick<LimiterStatus, "store" | "up"> | null;
}
