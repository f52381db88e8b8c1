import { dirname, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'

import type { Link, ObjectKind } from './object-at.js'
import { linkAt, objectAt, realPathOf } from './object-at.js'

export interface GrantedObject {
  readonly path: AbsolutePath
  readonly object: Exclude<ObjectKind, 'link'>
  /** The links of the system that lead there, which the cell then shows too. */
  readonly links: readonly Link[]
}

// Links that distributions make (/bin, /var/run, a relocated /home). No tool writes into these folders.
const FOLDERS_OF_SYSTEM_LINKS: ReadonlySet<string> = new Set(['/', '/usr', '/var', '/home'])

/**
 * The object that a grant names. A grant follows no links but the system's own: a link elsewhere may
 * have been planted by an earlier call, to move the grant to a file that nobody granted.
 */
export const resolveGrant = (path: AbsolutePath): GrantedObject | undefined => {
  const links: Link[] = []
  let rest = path
  for (let hops = 0; hops < 16; hops += 1) {
    const link = firstLink(rest)
    if (link === undefined) {
      const object = objectAt(rest)
      return object === undefined || object === 'link' ? undefined : { path: rest, object, links }
    }
    if (!FOLDERS_OF_SYSTEM_LINKS.has(dirname(link.path)))
      throw fail('path-is-symlink', { path, real: realPathOf(path) ?? 'it leads nowhere' })
    links.push(link)
    rest = parseAbsolutePath(resolve(dirname(link.path), link.target) + rest.slice(link.path.length))
  }
  throw fail('path-is-symlink', { path, real: 'its links lead in a circle' })
}

const firstLink = (path: AbsolutePath): Link | undefined => {
  const names = path.split('/')
  for (let depth = 2; depth <= names.length; depth += 1) {
    const prefix = parseAbsolutePath(names.slice(0, depth).join('/') || '/')
    if (objectAt(prefix) === 'link') return linkAt(prefix)
  }
  return undefined
}

const UNGRANTABLE: readonly (readonly [string, string])[] = [
  ['/proc', 'the cell has its own /proc'],
  ['/dev', 'the cell has its own /dev; grant a single device by its path instead'],
]

/** Refuses what cannot be granted exactly: the views of the kernel, and the root as something to write. */
export const refuseUngrantable = (path: AbsolutePath, section: 'read' | 'write', text: string): void => {
  const reject = (problem: string, fix: string) => fail('grant-inexpressible', { section, grant: text, problem, fix })
  if (path === '/' && section === 'write')
    throw reject('the whole file system', 'grant the folders that the tool works in')
  if (isWithinPath(path, '/sys' as AbsolutePath) && section === 'write')
    throw reject('/sys changes the host itself', 'remove the grant')
  for (const [folder, problem] of UNGRANTABLE) {
    if (path === folder || (folder === '/proc' && path.startsWith('/proc/'))) throw reject(problem, 'remove the grant')
  }
}
