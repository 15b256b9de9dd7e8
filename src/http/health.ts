/**
 * The health route: versions, the snapshot being served, and the state of the snapshot's source.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Count, Text, UtcTime } from "../domain/model.ts";
import { apiVersion, version } from "../domain/version.ts";
import type { SnapshotError } from "../snapshot/format/file.ts";
import type { SourceStatus } from "../snapshot/remote/source.ts";
import { describeOperation } from "./openapi.ts";
import type { SearchLimit } from "./rate-limit.ts";
import type { Service } from "./service.ts";

export interface HealthService extends Service {
  /** Why the newest snapshot file was refused; undefined if it was accepted. */
  refused(): SnapshotError | undefined;
  /**
   * Where snapshots are fetched from and how the last attempt ended; undefined for a local file.
   */
  source(): SourceStatus | undefined;
  searchLimit: SearchLimit | undefined;
}

export const health = (service: HealthService) =>
  new Elysia({ strictPath: true }).get(
    "/health",
    () => {
      const { meta, sha256 } = service.snapshot();
      const { built_at, counts } = meta;
      const limit = service.searchLimit?.limiter.status();
      return {
        success: true as const,
        api_version: apiVersion,
        version,
        snapshot: { built_at, sha256, counts },
        refused_replacement: service.refused()?.reason ?? null,
        snapshot_source: service.source() ?? null,
        search_limit: limit ? { store: limit.store, up: limit.up } : null,
      };
    },
    { detail: healthOperation, beforeHandle: service.faults },
  );

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

const healthOperation = describeOperation({
  operationId: "getHealth",
  summary: "Get the state of the service",
  description:
    "Returns the versions, the snapshot being served, and why a replacement was refused, if any.",
  tag: "Service",
  success: {
    api_version: Text,
    version: Text,
    snapshot: Type.Object({
      built_at: UtcTime,
      sha256: Text,
      counts: Type.Object({
        roles: Count,
        achievements: Count,
        companies: Count,
        users: Count,
        public_users: Count,
      }),
    }),
    refused_replacement: orNull(Text),
    // `error` is why the last attempt failed. In that case, the previous snapshot is still served.
    snapshot_source: orNull(
      Type.Object({
        url: Text,
        last_try: UtcTime,
        last_success: orNull(UtcTime),
        bytes: Count,
        error: orNull(Text),
      }),
    ),
    // `up` is false while the shared store is unreachable. Each process then keeps its own count.
    search_limit: orNull(Type.Object({ store: Text, up: Type.Boolean() })),
  },
  example: {
    success: true,
    api_version: apiVersion,
    version,
    snapshot: {
      built_at: "2026-11-22T10:00:55Z",
      sha256: "6217c067a9408d411314e6acfeb66f5b2bebccedf44f02efd3d930bf7dfd435c",
      counts: { roles: 8, achievements: 60, companies: 121, users: 3000, public_users: 2760 },
    },
    refused_replacement: null,
    snapshot_source: null,
    search_limit: { store: "memory", up: true },
  },
  errors: [],
});
