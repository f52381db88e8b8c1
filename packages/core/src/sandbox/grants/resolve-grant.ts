import { dirname, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'

import type { Link, Place } from './object-at.js'
import { linkAt, objectAt, placeAt, realPathOf } from './object-at.js'

interface GrantedObject extends Place {
  /** The system's links that lead there. The cell shows them too. */
  readonly links: readonly Link[]
}

// Links that distributions make (/bin, /var/run, a relocated /home). No tool writes into these folders.
const FOLDERS_OF_SYSTEM_LINKS: ReadonlySet<string> = new Set(['/', '/usr', '/var', '/home'])

/**
 * The object that a grant names. A grant follows only the system's own links: an earlier call may have planted any
 * other link to move the grant to another file.
 */
export const resolveGrant = (path: AbsolutePath): GrantedObject | undefined => {
  const links: Link[] = []
  let rest = path
  for (let hops = 0; hops < 16; hops += 1) {
    const link = firstLink(rest)
    if (link === undefined) {
      const [place] = placeAt(rest)
      return place === undefined ? undefined : { ...place, links }
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
    const prefix = names.slice(0, depth).join('/') as AbsolutePath
    if (objectAt(prefix) === 'link') return linkAt(prefix)
  }
  return undefined
}

/** Refuses grants that no cell can have: the kernel's own views, and to write the root. */
export const refuseUngrantable = (path: AbsolutePath, section: 'read' | 'write', text: string): void => {
  const reject = (problem: string, fix: string) => fail('grant-inexpressible', { section, grant: text, problem, fix })
  if (path === '/' && section === 'write')
    throw reject('the whole file system', 'grant the folders that the tool works in')
  if (isWithinPath(path, '/sys' as AbsolutePath) && section === 'write')
    throw reject('/sys changes the host itself', 'remove the grant')
  if (isWithinPath(path, '/proc' as AbsolutePath)) throw reject('the cell has its own /proc', 'remove the grant')
  if (path === '/dev')
    throw reject('the cell has its own /dev; grant a single device by its path instead', 'remove the grant')
}
