/**
 * How a setting is declared, and its value read: its flag, variable, default, types and help follow from
 * the declaration.
 */
import { InvalidValue, UsageError } from "../domain/invalid-value.ts";
import type * as types from "./value-types.ts";

/** A flag or an argument of a command. */
export interface Setting {
  /** `--port`, or `FILE` for an argument. */
  name: string;
  /** The heading in the help. */
  group: string;
  type: types.ValueType<unknown, unknown>;
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
  /** The flags that this one, or an argument, excludes. If it is given, their variables do not count. */
  replaces?: readonly string[];
  /** The environment variable of an argument. Every flag has one. */
  variable?: string;
}

type Declaration = Omit<Setting, "name" | "group"> & { name?: string };
export type Settings = Record<string, Setting>;

/** Declares flags and arguments. A flag's name follows from its property, unless the row has one. */
export function declare<Rows extends Record<string, Declaration>>(heading: string, rows: Rows) {
  const settings = Object.entries(rows).map(([property, row]) => {
    const words = property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const { name = `--${words}` } = row;
    return [property, { ...row, name, group: isFlag({ name }) ? heading : "Arguments" }];
  });
  return Object.fromEntries(settings) as {
    [Name in keyof Rows]: Rows[Name] & Pick<Setting, "name" | "group">;
  };
}

export const isFlag = ({ name }: Pick<Setting, "name">) => name.startsWith("--");

/** A flag with its value, or the name of an argument, as the help shows them. */
export function formOf({ name, type }: Setting): string {
  return isFlag({ name }) && type.value ? `${name} ${type.value}` : name;
}

/** Returns the environment variable that sets a flag or argument, if there is one. */
export function variableOf(setting: Setting): string | undefined {
  if (!isFlag(setting)) return setting.variable;
  return `ROADBOOK_${setting.name.slice(2).toUpperCase().replaceAll("-", "_")}`;
}

/** Names a command with its arguments and its required flags. */
export function usageOf(name: string, settings: Settings): string {
  const all = Object.values(settings);
  const needed = all.filter((setting) => setting.required || !isFlag(setting));
  const terms = needed.map((setting) => {
    const form = formOf(setting);
    return setting.required && !setting.variable ? form : `[${form}]`;
  });
  if (all.some(isFlag)) terms.push("[flags]");
  return [name, ...terms].join(" ");
}

/** The settings that are never undefined. */
type Defined =
  | { default: string }
  | { required: true; waivedBy?: undefined }
  | { type: { isSwitch: true } };

/** `Value`, or a list if a setting allows several. */
export type ListOf<T, Value> = T extends { list: string } ? readonly Value[] : Value;

/** The parsed values of settings. */
export type Values<T extends Record<string, Pick<Setting, "type">>> = {
  [Name in keyof T]:
    | ListOf<T[Name], ReturnType<T[Name]["type"]["parse"]>>
    | (T[Name] extends Defined ? never : undefined);
};

/** The exit code of a command that fails: 2 for incorrect usage, or else 1. */
export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? 2 : 1;
}

/** Parses the texts given on the command line, otherwise the variable in `env` or the default. */
export function readValue(setting: Setting, texts: string[] | undefined, env: types.Environment) {
  const { type, list } = setting;
  const variable = texts ? undefined : variableOf(setting);
  const name = variable ?? setting.name;
  const inputs = texts ?? [variable && env[variable]].filter((text) => text !== undefined);
  const parse = (text: string) => {
    // An empty value is an error, because an empty host would listen on every address.
    if (text === "") throw new UsageError(`${name} must not be empty`);
    return parseNamed(name, type, text, env);
  };

  const last = inputs.at(-1);
  if (last === undefined) return defaultOf(setting);
  if (!list) return parse(last);
  if (texts && list === ";") return inputs.map(parse);
  return inputs.flatMap((text) => text.split(list)).map((part) => parse(part.trim()));
}

/** Returns the value of a setting that was left out. */
export function defaultOf({ type, default: text }: Pick<Setting, "type" | "default">): unknown {
  if (text !== undefined) return type.parse(text);
  return type.isSwitch ? false : undefined;
}

/** Parses a value. An error, such as "must be 1 or 0", then names the setting and ends with the value. */
export function parseNamed<Value>(
  name: string,
  { parse, isSecret }: Pick<types.ValueType<Value>, "parse" | "isSecret">,
  value: unknown,
  env?: types.Environment,
): Value {
  try {
    return parse(String(value), env);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const got = isSecret ? "" : `, got ${JSON.stringify(value)}`;
    throw new UsageError(`${name} ${error.message}${got}`);
  }
}
