// A seal is on a name, and a Landlock rule on a file: whoever can write to a protected file by another name
// (a hard link) needs no protected name. So the other names of what is sealed are sealed with it.
import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import { placeAt } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import type { Scout } from './watcher.js'

export interface OtherNames {
  /** Other names in the write roots of files that are sealed. `links`: as long as that is the same, so is the answer. */
  readonly of: (scout: Scout, links: string, roots: readonly AbsolutePath[], sealed: readonly Place[]) => Promise<readonly Place[]>
  /** Refuses a call that could get at what its policy carves out by another name of it. */
  readonly refuse: (scout: Scout, links: string, roots: readonly AbsolutePath[], carved: readonly AbsolutePath[], sealed: readonly Place[]) => Promise<void>
}

const MOST_REMEMBERED = 256

export const createOtherNames = (): OtherNames => {
  const byScout = new WeakMap<Scout, Map<string, readonly AbsolutePath[]>>()
  const ask = async (scout: Scout, links: string, roots: readonly AbsolutePath[], sealed: readonly AbsolutePath[]): Promise<readonly AbsolutePath[]> => {
    const remembered = byScout.get(scout) ?? new Map<string, readonly AbsolutePath[]>()
    byScout.set(scout, remembered)
    const key = [links, ...roots, '', ...sealed].join('\0')
    const known = remembered.get(key)
    if (known !== undefined) return known
    const names = (await scout.otherNames(roots, sealed)).map(({ path }) => path)
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(key, names)
    return names
  }
  return {
    of: async (scout, links, roots, sealed) => {
      if (sealed.length === 0) return []
      const names = await ask(scout, links, roots, sealed.map(({ path }) => path))
      return names.flatMap(placeAt)
    },
    refuse: async (scout, links, roots, carved, sealed) => {
      const out = [...carved, ...sealed.map(({ path }) => path)]
      const names = await ask(scout, links, roots, carved.filter((path) => roots.some((root) => isWithinPath(path, root))))
      const open = names.find((name) => !out.some((path) => isWithinPath(name, path)))
      if (open !== undefined) throw fail('plan-rejected', { problem: `${open} is another name (a hard link) of a file that the policy takes out; carve it out as well, or remove it` })
    },
  }
}
