/**
 * Requests a number of items before the one that is used, so that a database works on them
 * meanwhile.
 *
 * At the end, also after an error, `items` is closed once it has settled what was requested. That is
 * not awaited, because a database may be silent. Closing its connection settles its replies.
 */
export async function* readAhead<T>(items: AsyncGenerator<T>, ahead: number): AsyncGenerator<T> {
  const requested: Promise<IteratorResult<T>>[] = [];
  const request = () => {
    const next = items.next();
    // An error is thrown where the item is awaited. After the end, it matters to nobody.
    next.catch(() => {});
    requested.push(next);
  };

  try {
    while (requested.length < ahead) request();
    for (;;) {
      const result = await requested.shift();
      if (!result || result.done) return;
      request();
      yield result.value;
    }
  } finally {
    items.return(undefined).catch(() => {});
  }
}
