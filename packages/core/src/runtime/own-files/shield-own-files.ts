// Takes Cordon's own files out of a tool's boundary, as carve-outs that the cell enforces.

import { fail } from '../../errors/index.js'
import { statusAt } from '../../platform/index.js'
import {
  bindGlob,
  carveOut,
  carveOutLink,
  escapeGlob,
  isReadable,
  isWithinPath,
  literalPattern,
  parseAbsolutePath,
  parsePathGlob,
} from '../../policy/index.js'
import type { AbsolutePath, Boundary, PathPattern } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import { linksOnTheWay } from './links-on-the-way.js'
import { prefixedPath } from './own-file.js'
import type { OwnFile } from './own-file.js'

/**
 * The boundary of a tool without Cordon's own files. Throws if a carve-out would not hold: a grant of the file itself,
 * a link that the tool could replace, a second name of the file.
 */
export const shieldOwnFiles = (boundary: Boundary, files: readonly OwnFile[], cwd?: AbsolutePath): Boundary => {
  if (files.length === 0) return boundary
  const grants = { read: boundary.read.flatMap(grantOf), write: boundary.write.flatMap(grantOf) }
  const taken = files.map((file) => take(file, grants, boundary, cwd))
  const [read, write] = [once(taken.flatMap((each) => each.read)), once(taken.flatMap((each) => each.write))]
  if (read.length + write.length === 0) return boundary
  return { ...boundary, read: [...boundary.read, ...read], write: [...boundary.write, ...write] }
}

const once = (patterns: readonly PathPattern[]): readonly PathPattern[] => [
  ...new Map(patterns.map((pattern) => [pattern.text, pattern])).values(),
]

interface Grant {
  readonly base: AbsolutePath
  readonly text: string
}

interface ReadAndWrite<Each> {
  readonly read: readonly Each[]
  readonly write: readonly Each[]
}

const grantOf = ({ negated, base, text }: PathPattern): readonly Grant[] =>
  negated ? [] : [{ base: futurePathOf(base), text }]

const NOTHING: ReadAndWrite<PathPattern> = { read: [], write: [] }

const take = (
  file: OwnFile,
  { read, write }: ReadAndWrite<Grant>,
  boundary: Boundary,
  cwd: AbsolutePath | undefined,
): ReadAndWrite<PathPattern> => {
  const { what, access, fix, prefix } = file
  const path = parseAbsolutePath(file.path)
  const refuse = (problem: string, way: string): Error => fail('own-file-exposed', { path, what, problem, fix: way })
  // A link of the program is guarded itself: what it leads to is another own file. The others have real paths already.
  const real = file.program === undefined ? futurePathOf(path) : path
  const harmful = access === 'withheld' ? [...read, ...write] : write
  const hasOthers =
    prefix !== undefined && !write.some(({ base }) => isWithinPath(real, base) || isWithinPath(base, real))
  const begins = harmful.find(
    ({ base }) => isWithinPath(base, real) && (!hasOthers || base.startsWith(prefixedPath(real, prefix))),
  )
  if (begins !== undefined)
    throw refuse(
      begins.base === real ? `the grant ${begins.text} names it` : `the grant ${begins.text} lies in it`,
      fix,
    )
  if (hasOthers)
    return read.some(({ base }) => isWithinPath(real, base) || base === real)
      ? { read: patternOf(real, prefix), write: [] }
      : NOTHING
  if (file.program !== undefined) {
    if (!write.some(({ base }) => isWithinPath(real, base))) return NOTHING
    return file.program === 'link' ? { read: [], write: [carveOutLink(real)] } : sealedOnly(real, boundary)
  }
  const link = linksOnTheWay(path).find((each) => write.some(({ base }) => isWithinPath(each, base)))
  if (link !== undefined)
    throw refuse(
      `it is reached through the link ${link}, which the tool could replace`,
      `name it without the link: ${real}`,
    )
  const second = hasSecondName(real, harmful, access)
  if (second !== undefined)
    throw refuse(
      `it has a second name (a hard link), which may lie in the grant ${second.text}`,
      `give it one name: cp -p ${real} ${real}.new && mv ${real}.new ${real}`,
    )
  if (
    !harmful.some(({ base }) => isWithinPath(real, base)) &&
    !(access === 'withheld' && boundary.presetRead.some(({ negated, base }) => !negated && isWithinPath(real, base)))
  )
    return NOTHING
  if (access === 'withheld' && cwd !== undefined && isWithinPath(cwd, real))
    throw refuse(`the working directory ${cwd} lies in it`, fix)
  if (access === 'withheld') return { read: [carveOut(real)], write: [] }
  return sealedOnly(real, boundary)
}

/** A path that is carved out of `write` is visible only with a grant in `read`. */
const sealedOnly = (real: AbsolutePath, boundary: Boundary): ReadAndWrite<PathPattern> => ({
  read: isReadable(boundary, real) && statusAt(real) !== undefined ? [literalPattern(real)] : [],
  write: [carveOut(real)],
})

const patternOf = (folder: AbsolutePath, prefix: string): readonly PathPattern[] =>
  bindGlob(parsePathGlob(`!${escapeGlob(prefixedPath(folder, prefix))}*`, 'own files'), {
    workspace: folder,
    home: folder,
  })

/** The other names of a file are unknown, but they are on the same file system. */
const hasSecondName = (path: AbsolutePath, grants: readonly Grant[], access: OwnFile['access']): Grant | undefined => {
  const found = statusAt(path)
  if (found?.isFile() !== true || found.nlink < 2) return undefined
  // No tool of this user can change such a file by any name: a package manager may share it among users.
  if (access === 'read-only' && found.uid !== process.geteuid?.() && (found.mode & 0o022) === 0) return undefined
  return grants.find(({ base }) => statusAt(base)?.dev === found.dev)
}
