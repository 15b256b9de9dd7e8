/** How commands are declared, and the arguments and flags that several have. */
import * as kinds from "../settings/kinds.ts";
import type { Settings, Values } from "../settings/setting.ts";

export interface Command<Given extends Settings = Settings> {
  settings: Given;
  /** Paragraphs for the help. */
  notes?: readonly string[];
  /** Lines for the end of the help, without the program's name. */
  examples: readonly string[];
  run(values: Values<Given>, commands: Commands): Promise<void>;
}

/** All commands by their names. Only those that are needed are loaded. */
export type Commands = Record<string, { summary: string; load(): Promise<Command> }>;

export type LoadedCommand = Command & { summary: string };

/** Infers the types of the values for `run`. */
export function command<Given extends Settings>(given: Command<Given>): Command {
  return given;
}

export const snapshotFile = {
  name: "FILE",
  kind: kinds.text("FILE"),
  required: true,
  help: "a snapshot",
} as const;

export const json = { kind: kinds.boolean, help: "print one JSON object, also for an error" };
