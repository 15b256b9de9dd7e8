/** The time of a build, which is read once: all parts of one build share it. */

export interface BuildTime {
  /**
   * The time of the build, which dates takedowns, ends holds and shows what is in the future. Defaults
   * to now.
   */
  builtAtMs?: number | undefined;
}

/** Options with the time of the build, which all parts of one build share. */
export type Dated<Options> = Options & { builtAtMs: number };

export function dateBuild<Options extends BuildTime>(options: Options): Dated<Options> {
  return { ...options, builtAtMs: options.builtAtMs ?? Date.now() };
}
