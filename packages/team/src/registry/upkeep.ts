const STOP_MS = 2_000

/** Runs at once and then repeatedly. Errors are ignored: the next run makes up for a failed one. */
export const startUpkeep = (work: () => Promise<unknown>, everyMs: number): { readonly stop: () => Promise<void> } => {
  let current: Promise<unknown> | undefined
  const once = (): void => {
    current ??= work()
      .catch(() => undefined)
      .finally(() => {
        current = undefined
      })
  }
  once()
  const timer = setInterval(once, everyMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      // The database is closed after this, so a running upkeep should end first.
      let patience: NodeJS.Timeout | undefined
      await Promise.race([
        current,
        new Promise((resolve) => {
          patience = setTimeout(resolve, STOP_MS)
        }),
      ])
      clearTimeout(patience)
    },
  }
}
