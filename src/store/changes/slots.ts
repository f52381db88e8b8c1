/** A number of places: who finds none waits for one. */
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
        // The place is handed on, so that nobody else takes it in between.
        if (next === undefined) free += 1
        else next()
      }
    },
  }
}
