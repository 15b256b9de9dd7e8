/** How commands are declared, and the arguments and flags that several have. */
import type { Settings, Values } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";

export interface Command<Own extends Settings = Settings> {
  settings: Own;
  /** Paragraphs for the help. */
  notes?: readonly string[];
  /** Lines for the end of the help, without the program's name. */
  examples: readonly string[];
  run(values: Values<Own>, commands: Commands): Promise<void>;
}

/** All commands by their names. */
export type Commands = Record<string, { summary: string; load(): Promise<Command> }>;

export type LoadedCommand = Command & { summary: string };

/** Infers the types of the values for `run`. */
export function command<Own extends Settings>(declared: Command<Own>): Command {
  return declared;
}

export const snapshotFile = {
  name: "FILE",
  type: types.text("FILE"),
  required: true,
  help: "a snapshot",
} as const;

export const json = { type: types.boolean, help: "print one JSON object, also for an error" };
