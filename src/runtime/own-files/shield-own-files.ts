// Takes what Cordon itself reads and writes out of what a tool may touch. The cell holds that like any other carve-out.
import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'

import { fail } from '../../errors/index.js'
import {
  bindGlob,
  carveOut,
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
import type { OwnFile } from './own-file.js'

/**
 * The boundary of a tool without Cordon's own files. It is refused where a carve-out would not hold, or nothing would
 * be left: a grant of the file itself, a link that the tool could replace, a second name of the file.
 */
export const shieldOwnFiles = (boundary: Boundary, files: readonly OwnFile[], cwd?: AbsolutePath): Boundary => {
  if (files.length === 0) return boundary
  const grants: Grants = { read: boundary.read.flatMap(grantOf), write: boundary.write.flatMap(grantOf) }
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

interface Grants {
  readonly read: readonly Grant[]
  readonly write: readonly Grant[]
}

const grantOf = ({ negated, base, text }: PathPattern): readonly Grant[] =>
  negated ? [] : [{ base: futurePathOf(base), text }]

interface Taken {
  readonly read: readonly PathPattern[]
  readonly write: readonly PathPattern[]
}

const NOTHING: Taken = { read: [], write: [] }

const take = (file: OwnFile, { read, write }: Grants, boundary: Boundary, cwd: AbsolutePath | undefined): Taken => {
  const { what, access, fix, prefix } = file
  const path = parseAbsolutePath(file.path)
  const refuse = (problem: string, way: string): Error => fail('own-file-exposed', { path, what, problem, fix: way })
  const real = futurePathOf(path)
  const harmful = access === 'withheld' ? [...read, ...write] : write
  const hasOthers =
    prefix !== undefined && !write.some(({ base }) => isWithinPath(real, base) || isWithinPath(base, real))
  const begins = harmful.find(
    ({ base }) => isWithinPath(base, real) && (!hasOthers || base.slice(real.length + 1).startsWith(prefix)),
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
  const link = linksOnTheWay(path).find((each) => write.some(({ base }) => isWithinPath(each, base)))
  if (link !== undefined)
    throw refuse(
      `it is reached through the link ${link}, which the tool could replace`,
      `name it without the link: ${real}`,
    )
  const second = hasSecondName(real, harmful)
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
  // What is carved out of `write` needs a grant in `read` to be seen at all.
  return {
    read: isReadable(boundary, real) && statOf(real) !== undefined ? [literalPattern(real)] : [],
    write: [carveOut(real)],
  }
}

const patternOf = (folder: AbsolutePath, prefix: string): readonly PathPattern[] =>
  bindGlob(parsePathGlob(`!${escapeGlob(`${folder === '/' ? '' : folder}/${prefix}`)}*`, 'own files'), {
    workspace: folder,
    home: folder,
  })

/** Where the other names are nobody knows; on another file system they cannot be. */
const hasSecondName = (path: AbsolutePath, grants: readonly Grant[]): Grant | undefined => {
  const found = statOf(path)
  if (found?.isFile() !== true || found.nlink < 2) return undefined
  return grants.find(({ base }) => statOf(base)?.dev === found.dev)
}

const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
