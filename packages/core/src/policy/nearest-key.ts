/** The known key that a mistyped one most likely stands for. */
export const nearestKey = (key: string, known: readonly string[]): string | undefined => {
  const typed = key.toLowerCase()
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  if (best === undefined) return undefined
  // Two exchanged letters are two edits. With more edits, or hardly a letter kept, a guess misleads.
  const isClose = best.distance <= Math.max(2, best.candidate.length / 3) && best.distance < best.candidate.length - 1
  return isClose ? best.candidate : undefined
}

export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const near = nearestKey(word, known)
  return near === undefined ? undefined : `did you mean "${near}"?`
}

/** Levenshtein distance, row by row. */
const editDistance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [index, character] of Array.from(from).entries()) {
    const next = [index + 1]
    for (const [at, wanted] of Array.from(to).entries()) {
      const replaced = (row[at] ?? 0) + (character === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
