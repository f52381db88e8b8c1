// Refuses a call with more protected names than a cell can seal, and says where they lie.
import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'
import { quotedWord } from '../grants/quoted-word.js'

const MOST_SEALED = 1_000

export const refuseTooManySeals = (sealed: readonly Place[], roots: readonly AbsolutePath[]): void => {
  if (sealed.length <= MOST_SEALED) return
  const [most, name] = [fullestFolder(sealed, roots), commonName(sealed)]
  const problem =
    `the write roots hold ${String(sealed.length)} protected names, more than ${String(MOST_SEALED)} ` +
    `(${describeMost(sealed)})`
  const way =
    `list them with: find ${quotedWord(most)} -name ${quotedWord(name)} -prune; then move or remove that ` +
    'folder, or grant smaller folders'
  throw fail('plan-rejected', { problem: `${problem}; most lie in ${most}; ${way}` })
}

/** The deepest folder that more than half of them lie in. */
const fullestFolder = (sealed: readonly Place[], roots: readonly AbsolutePath[]): AbsolutePath => {
  const within = (folder: AbsolutePath) => sealed.filter(({ path }) => path !== folder && isWithinPath(path, folder))
  let fullest = roots.reduce(
    (best, root) => (within(root).length > within(best).length ? root : best),
    roots[0] ?? ('/' as AbsolutePath),
  )
  for (;;) {
    const counts = new Map<AbsolutePath, number>()
    for (const { path } of within(fullest)) {
      const end = path.indexOf('/', fullest.length + 1)
      const child = path.slice(0, end < 0 ? undefined : end) as AbsolutePath
      if (end >= 0) counts.set(child, (counts.get(child) ?? 0) + 1)
    }
    const [next] = [...counts].filter(([, count]) => count * 2 > sealed.length)
    if (next === undefined) return fullest
    fullest = next[0]
  }
}

const nameOf = (path: AbsolutePath): string => path.slice(path.lastIndexOf('/') + 1)

const byName = (
  sealed: readonly Place[],
): readonly (readonly [string, { readonly example: AbsolutePath; readonly count: number }])[] => {
  const counts = new Map<string, { readonly example: AbsolutePath; readonly count: number }>()
  for (const { path } of sealed) {
    const known = counts.get(nameOf(path))
    counts.set(nameOf(path), { example: known?.example ?? path, count: (known?.count ?? 0) + 1 })
  }
  return [...counts].sort(([, left], [, right]) => right.count - left.count)
}

const commonName = (sealed: readonly Place[]): string => byName(sealed)[0]?.[0] ?? ''

/** Which names there are so many of, and one of each. */
const describeMost = (sealed: readonly Place[]): string =>
  byName(sealed)
    .slice(0, 3)
    .map(([name, { example, count }]) => `${String(count)} × ${name}, such as ${example}`)
    .join('; ')
