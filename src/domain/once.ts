/** Makes something once, when it is first needed. */

/** For what is made synchronously. */
export function lazy<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** After a failure, the next call tries again. */
export class Once<Made> {
  readonly #make: () => Promise<Made>;
  #made: Promise<Made> | undefined;

  constructor(make: () => Promise<Made>) {
    this.#make = make;
  }

  get(): Promise<Made> {
    if (this.#made) return this.#made;

    const made = this.#make();
    this.#made = made;
    made.catch(() => {
      this.#made = undefined;
    });
    return made;
  }
}
