// A tool that can write a protected file by another name (a hard link) does not need the protected name. So the other
// names of sealed files are sealed too.
import { lstatSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { ifSeen } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { CarvedOut } from '../grants/carve-outs.js'
import { pathFor } from '../grants/file-names.js'
import { statusOf } from '../grants/object-at.js'
import type { RealObject } from '../grants/object-at.js'
import type { Watcher } from './watcher.js'

const MOST_REMEMBERED = 256

// Every call looks, and the answer stays the same as long as `links` does.
const byWatcher = new WeakMap<Watcher, Map<string, readonly AbsolutePath[]>>()

export const otherNamesOf = async (
  watcher: Watcher,
  links: string,
  roots: readonly AbsolutePath[],
  sealed: readonly AbsolutePath[],
): Promise<readonly AbsolutePath[]> => {
  if (sealed.length === 0) return []
  const remembered = byWatcher.get(watcher) ?? new Map<string, readonly AbsolutePath[]>()
  byWatcher.set(watcher, remembered)
  const key = [links, ...roots, '', ...sealed].join('\0')
  const known = remembered.get(key)
  // A name that is gone may have been moved.
  if (known !== undefined && !known.some(isRemoved)) return known
  const names = (await watcher.otherNames(roots, sealed, [])).map(({ path }) => path)
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(key, names)
  return names
}

export const refuseOtherNames = async (
  watcher: Watcher,
  links: string,
  roots: readonly AbsolutePath[],
  carved: CarvedOut,
  sealed: readonly RealObject[],
): Promise<void> => {
  const out = [...carved.paths, ...sealed.map(({ path }) => path)]
  const readable = carved.readable.filter((path) => !isIn(path, roots))
  const hidden = carved.hidden.filter((path) => (readable.length > 0 || !isIn(path, roots)) && mayHaveOtherNames(path))
  const inRoots = carved.paths.filter((path) => isIn(path, roots))
  const names = await otherNamesOf(watcher, links, roots, inRoots)
  // Read roots are not watched, so each call looks there again.
  const readNames = hidden.length === 0 ? [] : await watcher.otherNames(roots, hidden, readable)
  const open = [...names, ...readNames.map(({ path }) => path)].find((name) => !isIn(name, out))
  if (open !== undefined)
    throw fail('plan-rejected', {
      problem:
        `${open} is another name (a hard link) of a file that the policy takes out; carve it out as well, ` +
        'or remove it',
    })
}

/** A closed folder only hides it. */
const isRemoved = (path: AbsolutePath): boolean =>
  ifSeen(() => lstatSync(pathFor(path), { throwIfNoEntry: false }) === undefined) === true

const isIn = (path: AbsolutePath, folders: readonly AbsolutePath[]): boolean =>
  folders.some((folder) => isWithinPath(path, folder))

/** Also true of a folder, which may contain such files. */
const mayHaveOtherNames = (path: AbsolutePath): boolean => {
  const status = statusOf(path)
  return status?.isDirectory() === true || (status?.isFile() === true && status.nlink > 1)
}
