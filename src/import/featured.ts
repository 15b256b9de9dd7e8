/**
 * Finds the users whom the start page shows unless an operator names others: the twelve with the
 * most achievement points.
 */
const MAX_FEATURED = 12;

/** Takes users in ascending order of their ids. */
export class Featured {
  /** Highest first, then lowest id. */
  readonly #best: { id: number; points: number }[] = [];

  add(id: number, points: number): void {
    const last = this.#best.at(-1)?.points ?? 0;
    if (this.#best.length === MAX_FEATURED && points <= last) return;

    this.#best.push({ id, points });
    this.#best.sort((a, b) => b.points - a.points).splice(MAX_FEATURED);
  }

  ids(): number[] {
    return this.#best.map(({ id }) => id);
  }
}
