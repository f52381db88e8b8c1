import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { codeOf } from '../../errors/index.js'
import type { ListFolder, ResolvePath } from '../../gate/index.js'
import { linkStatusAt } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

const MOST_NAMES = 4_096

/** Follows the links of a path on this host. A missing file lies in the folder where it would be made. */
export const resolveOnHost: ResolvePath = (path) => {
  const missing: string[] = []
  for (let at = path; missing.length < MOST_NAMES; at = dirname(at)) {
    const found = follow(at)
    if (found.kind === 'unknown') return found
    if (found.kind === 'object') {
      const rest = missing.toReversed()
      // The kernel does not follow `..` behind a missing folder.
      if (rest.includes('..')) return { kind: 'unknown', problem: 'it leads back from a folder that does not exist' }
      const real = [found.path === '/' ? '' : found.path, ...rest].join('/')
      return {
        kind: 'object',
        path: (real === '' ? '/' : real) as AbsolutePath,
        exists: rest.length === 0,
        parentExists: rest.length <= 1,
      }
    }
    if (at === '/') break
    const name = basename(at)
    if (name !== '.') missing.push(name)
  }
  return { kind: 'unknown', problem: 'nothing of it exists' }
}

/** The names in a folder. Undefined if this user may not read it. */
export const listOnHost: ListFolder = (path) => {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}

type Followed =
  | { readonly kind: 'object'; readonly path: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly problem: string }

const follow = (path: string): Followed => {
  try {
    return { kind: 'object', path: realpathSync.native(path) }
  } catch (error) {
    const code = codeOf(error) ?? 'an unknown error'
    if (code !== 'ENOENT') return { kind: 'unknown', problem: code }
    // Writing through a dangling link creates its target, which is not known here.
    return linkStatusAt(path) !== undefined
      ? { kind: 'unknown', problem: 'it is a link that leads nowhere' }
      : { kind: 'missing' }
  }
}
