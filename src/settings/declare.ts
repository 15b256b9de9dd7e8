/** How a setting is declared. Its flag, variable, default, types and help follow from that. */
import type * as kinds from "./kinds.ts";

/** A flag or an argument of a command. */
export interface Setting {
  /** As shown in the help: `--port N`, or `FILE` for an argument. */
  name: string;
  /** The heading in the help. */
  group: string;
  kind: kinds.TextKind<unknown>;
  help: string;
  /**
   * Allows several values: repeated flags or arguments, an array, or a variable divided by this. Only
   * a comma also divides a flag, because a value such as the URL of a link may contain a semicolon.
   */
  list?: "," | ";";
  /** The default, as an operator would write it. Without one, a setting can be undefined. */
  default?: string;
  required?: true;
  /** The property of a switch with which a required setting is not needed. */
  waivedBy?: string;
  /** The environment variable of an argument. Every flag has one. */
  variable?: string;
}

type Declaration = Omit<Setting, "name" | "group"> & { name?: string };
export type Settings = Record<string, Setting>;

/** Declares flags and arguments. A flag's name follows from its property, unless the row has one. */
export function declare<Rows extends Record<string, Declaration>>(heading: string, rows: Rows) {
  const settings = Object.entries(rows).map(([key, row]) => {
    const words = key.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const { name = `--${words} ${row.kind.value ?? ""}`.trim() } = row;
    return [key, { ...row, name, group: isFlag({ name }) ? heading : "Arguments" }];
  });
  return Object.fromEntries(settings) as {
    [Key in keyof Rows]: Rows[Key] & Pick<Setting, "name" | "group">;
  };
}

export const isFlag = ({ name }: Pick<Setting, "name">) => name.startsWith("--");

/** Returns a flag without its value, or the name of an argument. */
export const termOf = ({ name }: Setting) => name.replace(/ .*/, "");

/** Returns the environment variable that sets a flag or argument, if there is one. */
export function variableOf(setting: Setting): string | undefined {
  if (!isFlag(setting)) return setting.variable;
  return `ROADBOOK_${termOf(setting).slice(2).toUpperCase().replaceAll("-", "_")}`;
}

/** Names a command with its arguments and its required flags. */
export function usageOf(name: string, settings: Settings): string {
  const all = Object.values(settings);
  const needed = all.filter((setting) => setting.required || !isFlag(setting));
  const terms = needed.map(({ name, required, variable }) => {
    return required && !variable ? name : `[${name}]`;
  });
  if (all.some(isFlag)) terms.push("[flags]");
  return [name, ...terms].join(" ");
}

type KindOf<T> = T extends { kind: { convert(given: infer Given): infer Inside } }
  ? T extends { list: string }
    ? { given: readonly Given[]; inside: Inside[] }
    : { given: Given; inside: Inside }
  : { given: never; inside: unknown };
export type GivenOf<T> = KindOf<T>["given"];
type Defined =
  | { default: string }
  | { required: true; waivedBy?: undefined }
  | { kind: { isSwitch: true } };

/** The parsed values of settings. */
export type Values<T> = {
  [Name in keyof T]: KindOf<T[Name]>["inside"] | (T[Name] extends Defined ? never : undefined);
};
