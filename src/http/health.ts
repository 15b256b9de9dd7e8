/** The health route: versions, the snapshot being served, and the state of its source. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Count, Text, UtcTime } from "../domain/model.ts";
import { apiVersion, version } from "../domain/version.ts";
import type { Counts } from "../snapshot/format/meta.ts";
import type { RouteOptions } from "./app-options.ts";
import { endpoints } from "./endpoints.ts";
import { errorTypes } from "./errors.ts";
import { describeOperation } from "./openapi.ts";

export const health = ({ reloadable, refused, remoteStatus, limiter }: RouteOptions) =>
  new Elysia().get(
    endpoints.getHealth.path,
    () => {
      const { sha256, meta } = reloadable.current();
      const limit = limiter?.status();
      return {
        success: true as const,
        api_version: apiVersion,
        version,
        snapshot: { built_at: meta.built_at, sha256, counts: meta.counts },
        refused_replacement: refused() ?? null,
        snapshot_source: remoteStatus() ?? null,
        search_limit: limit ? { store: limit.store, up: limit.up } : null,
      } satisfies HealthBody;
    },
    { ...errorTypes<"Service">(), detail: healthOperation },
  );

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const SnapshotSource = Type.Object({
  url: Text,
  last_success: orNull(UtcTime),
  error: orNull(Text),
});
const counts = {
  roles: Count,
  achievements: Count,
  companies: Count,
  users: Count,
  public_users: Count,
} satisfies Record<keyof Counts, TSchema>;

const success = {
  api_version: Text,
  version: Text,
  snapshot: Type.Object({ built_at: UtcTime, sha256: Text, counts: Type.Object(counts) }),
  refused_replacement: orNull(Text),
  snapshot_source: orNull(SnapshotSource),
  search_limit: orNull(Type.Object({ store: Text, up: Type.Boolean() })),
};
const HealthBody = Type.Object({ success: Type.Literal(true), ...success });
export type HealthBody = Static<typeof HealthBody>;

const healthOperation = describeOperation({
  operationId: "getHealth",
  summary: "Get the state of the service",
  description:
    "Returns the versions, the snapshot being served, and why a newer one is not served.",
  success,
});
