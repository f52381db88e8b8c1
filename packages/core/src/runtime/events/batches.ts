interface Batches<Item, Written> {
  readonly add: (item: Item) => Promise<Written>
  /** Resolves when all that was added before is written, or could not be. */
  readonly idle: () => Promise<void>
}

/**
 * Items that are added in one turn of the event loop, or while an earlier batch is written, are written together.
 * `write` returns what each of them comes to. If it rejects, none of its batch is written.
 */
export const createBatches = <Item, Written>(
  write: (items: readonly Item[]) => Promise<readonly Written[]>,
): Batches<Item, Written> => {
  let waiting: Item[] = []
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly Written[]> | undefined
  const idle = (): Promise<void> =>
    last.then(
      () => undefined,
      () => undefined,
    )
  const writeWaiting = async (): Promise<readonly Written[]> => {
    await idle()
    const batch = waiting
    waiting = []
    next = undefined
    return write(batch)
  }
  return {
    add: async (item) => {
      const at = waiting.push(item) - 1
      last = next ??= writeWaiting()
      return (await next)[at] as Written
    },
    idle,
  }
}
