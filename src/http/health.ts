/** The health route: that the service answers, which version it is, and what it answers from. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Count, Text, UtcTime } from "../domain/schema.ts";
import { apiVersion, version } from "../domain/version.ts";
import type { Context } from "./context.ts";
import { describe } from "./openapi.ts";
import { succeed } from "./response.ts";

const SnapshotFacts = Type.Object({
  built_at: UtcTime,
  dataset_sha256: Text,
  counts: Type.Object({
    roles: Count,
    achievements: Count,
    companies: Count,
    users: Count,
    public_users: Count,
  }),
});

/** `up` is false while a shared store is out of reach and memory decides. */
const SearchLimitFacts = Type.Object({ store: Text, up: Type.Boolean() });

export function healthRoutes(context: Context) {
  return new Elysia().get(
    "/health",
    () => {
      const { built_at, dataset_sha256, counts } = context.snapshot().meta;
      return succeed({
        api_version: apiVersion,
        version,
        snapshot: { built_at, dataset_sha256, counts },
        refused_replacement: context.refused()?.reason ?? null,
        search_limit: searchLimitFacts(context),
      });
    },
    {
      detail: describe({
        operationId: "getHealth",
        summary: "Get the state of the service",
        description:
          "Versions, the snapshot that answers come from, and why the file that was put in its place is not served, if so.",
        tags: ["Service"],
        success: {
          api_version: Text,
          version: Text,
          snapshot: SnapshotFacts,
          refused_replacement: Type.Union([Text, Type.Null()]),
          search_limit: Type.Union([SearchLimitFacts, Type.Null()]),
        },
        errors: ["internal_error"],
      }),
    },
  );
}

function searchLimitFacts({ searchLimit }: Context) {
  if (!searchLimit) return null;
  const { store, up } = searchLimit.limiter.status();
  return { store, up };
}
