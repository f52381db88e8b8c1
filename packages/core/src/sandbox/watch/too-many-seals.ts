// Refuses a call with more protected names than a cell can seal, and says where they lie.
import { basename } from 'node:path'

import { fail } from '../../errors/index.js'
import { quotedWord } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'

const MOST_SEALED = 1_000

export const refuseTooManySeals = (sealed: readonly Place[], roots: readonly AbsolutePath[]): void => {
  if (sealed.length <= MOST_SEALED) return
  const [folder, names] = [fullestFolder(sealed, roots), byName(sealed)]
  const most = names.slice(0, 3).map(([name, paths]) => `${paths.length} × ${name}, such as ${paths[0] ?? ''}`)
  throw fail('plan-rejected', {
    problem:
      `the write roots hold ${sealed.length} protected names, more than ${MOST_SEALED} ` +
      `(${most.join('; ')}); most lie in ${folder}; list them with: find ${quotedWord(folder)} -name ` +
      `${quotedWord(names[0]?.[0] ?? '')} -prune; then move or remove that folder, or grant smaller folders`,
  })
}

/** The deepest folder that contains more than half of them. */
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

/** The most frequent name first. */
const byName = (sealed: readonly Place[]): readonly (readonly [string, readonly AbsolutePath[]])[] => {
  const byName = new Map<string, AbsolutePath[]>()
  for (const { path } of sealed) {
    const paths = byName.get(basename(path))
    if (paths === undefined) byName.set(basename(path), [path])
    else paths.push(path)
  }
  return [...byName].sort(([, left], [, right]) => right.length - left.length)
}
