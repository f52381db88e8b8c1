/** The steps that a search may still take. For some patterns an exact answer takes exponential time. */
export interface Effort {
  left: number
}

/** In characters of wildcards. This takes about a second, and is a thousand times the need of an ordinary policy. */
export const newEffort = (): Effort => ({ left: 5_000_000 })

/** Whether there was enough left. */
export const spend = (effort: Effort, steps: number): boolean => {
  effort.left -= steps
  return effort.left >= 0
}
