// A seal is on a name, and a Landlock rule on a file: whoever can write to a protected file by another name
// (a hard link) needs no protected name. So the other names of what is sealed are sealed with it.
import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { CarvedOut } from '../grants/carve-outs.js'
import { placeAt, statusOf } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import type { Watcher } from './watcher.js'

export interface OtherNames {
  /**
   * Other names in the write roots of files that are sealed. `links`: as long as that is the same, so is the answer.
   */
  readonly of: (
    watcher: Watcher,
    links: string,
    roots: readonly AbsolutePath[],
    sealed: readonly Place[],
  ) => Promise<readonly Place[]>
  /** Refuses a call that could get at what its policy carves out by another name of it. */
  readonly refuse: (
    watcher: Watcher,
    links: string,
    roots: readonly AbsolutePath[],
    carved: CarvedOut,
    sealed: readonly Place[],
  ) => Promise<void>
}

const MOST_REMEMBERED = 256

export const createOtherNames = (): OtherNames => {
  const byWatcher = new WeakMap<Watcher, Map<string, readonly AbsolutePath[]>>()
  const ask = async (
    watcher: Watcher,
    links: string,
    roots: readonly AbsolutePath[],
    sealed: readonly AbsolutePath[],
  ): Promise<readonly AbsolutePath[]> => {
    const remembered = byWatcher.get(watcher) ?? new Map<string, readonly AbsolutePath[]>()
    byWatcher.set(watcher, remembered)
    const key = [links, ...roots, '', ...sealed].join('\0')
    const known = remembered.get(key)
    if (known !== undefined) return known
    const names = (await watcher.otherNames(roots, sealed, [])).map(({ path }) => path)
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(key, names)
    return names
  }
  return {
    of: async (watcher, links, roots, sealed) => {
      if (sealed.length === 0) return []
      const names = await ask(
        watcher,
        links,
        roots,
        sealed.map(({ path }) => path),
      )
      return names.flatMap(placeAt)
    },
    refuse: async (watcher, links, roots, carved, sealed) => {
      const out = [...carved.paths, ...sealed.map(({ path }) => path)]
      const inRoots = carved.paths.filter((path) => isIn(path, roots))
      const readable = carved.readable.filter((path) => !isIn(path, roots))
      const hidden = carved.hidden.filter(
        (path) => (readable.length > 0 || !isIn(path, roots)) && mayHaveOtherNames(path),
      )
      const names = inRoots.length === 0 ? [] : await ask(watcher, links, roots, inRoots)
      // Nobody watches what is only read, so that this is looked up for each call.
      const readNames = hidden.length === 0 ? [] : await watcher.otherNames(roots, hidden, readable)
      const open = [...names, ...readNames.map(({ path }) => path)].find((name) => !isIn(name, out))
      if (open !== undefined)
        throw fail('plan-rejected', {
          problem:
            `${open} is another name (a hard link) of a file that the policy takes out; carve it out as well, ` +
            'or remove it',
        })
    },
  }
}

const isIn = (path: AbsolutePath, folders: readonly AbsolutePath[]): boolean =>
  folders.some((folder) => isWithinPath(path, folder))

/** A folder may hold files that have. */
const mayHaveOtherNames = (path: AbsolutePath): boolean => {
  const status = statusOf(path)
  return status?.isDirectory() === true || (status?.isFile() === true && status.nlink > 1)
}
