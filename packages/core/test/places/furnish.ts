// Files for a cell inside a cell. Their names say which of the two may do what with them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { snapshot } from '../attacks/playground.js'

export interface Room {
  readonly both: string
  readonly granted: string
  readonly outerOnly: string
  readonly outerSecret: string
  readonly outerWritten: string
  readonly written: string
  readonly secret: string
  /** What `outerWritten` was before anybody came. */
  readonly before: readonly string[]
}

/** `seed` puts into a folder what the attack on it expects to find. */
export const furnish = (root: string, seed: (folder: string) => void): Room => {
  const folder = (name: string): string => {
    const path = join(root, name)
    mkdirSync(path)
    return path
  }
  const file = (path: string, content: string): string => {
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const both = folder('both')
  const outerOnly = folder('outer-only')
  const outerWritten = folder('outer-written')
  file(join(outerWritten, 'file'), 'SECRET of the outer cell\n')
  // With something protected, so that the outer keeper writes there for the outer tool: not for the inner one.
  file(join(outerWritten, '.envrc'), 'original\n')
  seed(outerWritten)
  return {
    both,
    granted: file(join(both, 'granted'), 'GRANTED\n'),
    outerOnly,
    outerSecret: file(join(outerOnly, 'secret'), 'SECRET of the outer cell\n'),
    outerWritten,
    written: folder('written'),
    secret: file(join(folder('withheld'), 'secret'), 'SECRET of the host\n'),
    before: snapshot(outerWritten),
  }
}
