/** How much a search may still do. Patterns can be written for which an exact answer takes exponential time. */
export interface Effort {
  left: number
}

export const OUT_OF_EFFORT = Symbol('out of effort')

/** In characters of wildcards looked at: about a second, and a thousand times what an ordinary policy needs. */
export const newEffort = (): Effort => ({ left: 5_000_000 })

/** Whether there was enough left. */
export const spend = (effort: Effort, steps: number): boolean => {
  effort.left -= steps
  return effort.left >= 0
}
