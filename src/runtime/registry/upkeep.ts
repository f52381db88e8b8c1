const STOP_MS = 2_000

/**
 * At once and then again and again. One that fails is made up for by the next, here or by any other process, and is
 * nothing that the host could do something about.
 */
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
      // The database is closed by who opened it, best when nothing is asked of it any more.
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
