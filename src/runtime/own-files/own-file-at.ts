// Which file of Cordon itself a path is. Hints ask before they advise a grant that would be refused.
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import type { OwnFile } from './own-file.js'

/**
 * Undefined where a grant of this path could be held. Of several files the narrowest counts. `path` has its links
 * resolved.
 */
export const ownFileAt = (path: string, access: 'read' | 'write', files: readonly OwnFile[]): OwnFile | undefined =>
  files
    .filter((file) => access === 'write' || file.access === 'withheld')
    .map((file) => ({ file, place: futurePathOf(parseAbsolutePath(file.path)) }))
    .filter(
      ({ file, place }) =>
        isWithinPath(path as AbsolutePath, place) &&
        (file.prefix === undefined || access === 'write' || isNamed(path, place, file.prefix)),
    )
    .sort((one, other) => rankOf(path, other) - rankOf(path, one))[0]?.file

const isNamed = (path: string, folder: string, prefix: string): boolean =>
  path.slice(folder.length + 1).startsWith(prefix)

interface Placed {
  readonly file: OwnFile
  readonly place: string
}

/** A file that is named by its beginning is narrower than the folder that it lies in. */
const rankOf = (path: string, { file: { prefix }, place }: Placed): number =>
  place.length + (prefix !== undefined && isNamed(path, place, prefix) ? prefix.length : 0)

/** In place of the grant that would let a command, or a tool, have it. */
export const describeOwnFile = (path: string, { what, access, prefix }: OwnFile, who: 'command' | 'tool'): string =>
  `${path} is a file of Cordon itself (${prefix === undefined ? what : 'the audit log'}): no ${who} ` +
  `${access === 'withheld' ? 'gets it' : 'may change it'}; see docs/own-files.md`
