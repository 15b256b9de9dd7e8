/**
 * The commands. The file of each declares its arguments, flags and help. It is loaded only if it is
 * needed, so that `--version`, `--help` and `health` start fast.
 */
import type { Command, Commands } from "./command.ts";

export const commands: Commands = {
  serve: {
    summary: "start the server (the default command)",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  import: {
    summary: "build a snapshot from NDJSON (plain or gzip), CSV files or a database",
    load: async () => (await import("./import.ts")).importCommand,
  },
  apply: {
    summary: "apply a change file to a snapshot",
    load: async () => (await import("./apply-hide.ts")).applyCommand,
  },
  hide: {
    summary: "make users private",
    load: async () => (await import("./apply-hide.ts")).hideCommand,
  },
  export: {
    summary: "export the data of a snapshot as a dataset",
    load: async () => (await import("./export-seed.ts")).exportCommand,
  },
  check: {
    summary: "verify a snapshot and report any damage",
    load: async () => (await import("./check.ts")).checkCommand,
  },
  seed: {
    summary: "generate a made-up dataset",
    load: async () => (await import("./export-seed.ts")).seedCommand,
  },
  schema: {
    summary: "print the JSON Schema for dataset lines",
    load: async () => (await import("./documents.ts")).schemaCommand,
  },
  openapi: {
    summary: "print the OpenAPI document for the API",
    load: async () => (await import("./documents.ts")).openapiCommand,
  },
  licences: {
    summary: "print the licences of all parts of this program",
    load: async () => (await import("./documents.ts")).licencesCommand,
  },
  health: {
    summary: "check whether a running server is healthy",
    load: async () => (await import("./health.ts")).healthCommand,
  },
  completion: {
    summary: "print the completion script of a shell",
    load: async () => (await import("./completion.ts")).completionCommand,
  },
};

export type LoadedCommand = Command & { summary: string };

/** Loads the declarations of all commands. */
export async function loadCommands(): Promise<Record<string, LoadedCommand>> {
  const all = Object.entries(commands).map(async ([name, { summary, load }]) => {
    return [name, { summary, ...(await load()) }];
  });
  return Object.fromEntries(await Promise.all(all));
}
