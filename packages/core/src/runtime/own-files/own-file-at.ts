// Finds the own file of Cordon at a path. Hints ask before they advise a grant that would be refused.
import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import { prefixedPath } from './own-file.js'
import type { OwnFile } from './own-file.js'

/** Undefined if this path can be granted. The narrowest of several files counts. `path` has its links resolved. */
export const ownFileAt = (path: string, access: 'read' | 'write', files: readonly OwnFile[]): OwnFile | undefined =>
  files
    .filter((file) => access === 'write' || file.access === 'withheld')
    .map((file) => ({ file, place: placeOf(file) }))
    .filter(
      ({ file, place }) =>
        isWithinPath(path as AbsolutePath, place) &&
        (file.prefix === undefined || access === 'write' || path.startsWith(prefixedPath(place, file.prefix))),
    )
    .map(({ file, place }) => {
      const prefix = prefixedPath(place, file.prefix ?? '')
      return { file, rank: path.startsWith(prefix) ? prefix.length : place.length }
    })
    .sort((one, other) => other.rank - one.rank)[0]?.file

/** A link of the program is a file of its own, and the rest of it has real paths. */
const placeOf = ({ path, program }: OwnFile): AbsolutePath =>
  program === undefined ? futurePathOf(parseAbsolutePath(path)) : parseAbsolutePath(path)

/** Shown in place of a grant. */
export const describeOwnFile = (path: string, { what, access, prefix }: OwnFile, who: 'command' | 'tool'): string =>
  `${path} is a file of Cordon itself (${prefix === undefined ? what : 'the audit log'}): no ${who} ` +
  `${access === 'withheld' ? 'gets it' : 'may change it'}; see docs/own-files.md`
