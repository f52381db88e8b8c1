/** Runs so much work at the same time. The rest waits. */
export interface Slots {
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export const createSlots = (count: number): Slots => {
  const waiting: (() => void)[] = []
  let free = count
  return {
    during: async (work) => {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        // Handed on directly, so that nobody else takes the slot in between.
        if (next === undefined) free += 1
        else next()
      }
    },
  }
}
