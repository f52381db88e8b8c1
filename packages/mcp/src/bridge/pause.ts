// Servers choose how long the bridge waits, so there are bounds.
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 30_000

/** Settles early if the signal says so. */
export const pause = (wanted: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', settle)
      resolve()
    }
    const timer = setTimeout(settle, Math.min(Math.max(wanted, SHORTEST_PAUSE), LONGEST_PAUSE))
    signal.addEventListener('abort', settle)
    if (signal.aborted) settle()
  })
