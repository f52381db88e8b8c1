// What a tool or a command that failed by itself lacked, as far as facts tell: existing paths that its words name, and
// that its boundary does not grant.
import { realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { resolve } from 'node:path'

import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isReadable, isWithinPath } from '../../policy/index.js'
import { isKernelView } from '../../sandbox/index.js'

import { describeOwnFile, ownFileAt } from '../own-files/index.js'
import { readLine } from './policy-lines.js'
import type { AdviceContext } from './policy-lines.js'

export interface NamedPath {
  readonly path: AbsolutePath
  readonly real: AbsolutePath
  readonly status: Stats
}

const MOST_WORDS = 200

/** The existing paths that words name exactly: `data/words`, `--file=data/words`. */
export const namedPaths = (words: readonly string[], cwd: string): readonly NamedPath[] => {
  const texts = words.slice(0, MOST_WORDS).map((word) => word.replace(/^--?[\w-]+=/, ''))
  const paths = texts.filter((text) => text !== '' && !text.includes('\0')).map((text) => resolve(cwd, text))
  return [...new Set(paths)]
    .flatMap((path) => lookAt(path as AbsolutePath) ?? [])
    .filter(({ path, real }) => real !== '/' && !isKernelView(path) && !isKernelView(real))
}

const lookAt = (path: AbsolutePath): NamedPath | undefined => {
  try {
    const real = realpathSync(path) as AbsolutePath
    return { path, real, status: statSync(real) }
  } catch {
    return undefined
  }
}

/** Whether a working directory is granted neither as a whole nor in parts. */
export const isUngranted = (cwd: AbsolutePath, boundary: Boundary): boolean =>
  cwd !== '/' &&
  !isReadable(boundary, cwd) &&
  ![...boundary.read, ...boundary.write].some(({ negated, base }) => !negated && isWithinPath(base, cwd))

interface FailedTool extends AdviceContext {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  /** The arguments of its command, or the texts of its input. */
  readonly named: readonly string[]
  readonly kind: 'process' | 'function'
}

/** Empty without advice. */
export const fixOfFailure = (tool: FailedTool): string => {
  const { boundary, cwd, workspace, ownFiles, named, kind } = tool
  const lacking = namedPaths(named, cwd).find(({ real }) => !isReadable(boundary, real))?.real
  if (lacking === undefined) return kind === 'process' && isUngranted(cwd, boundary) ? notGranted(cwd, workspace) : ''
  const own = ownFileAt(lacking, 'read', ownFiles)
  return own === undefined ? notGranted(lacking, workspace) : describeOwnFile(lacking, own, 'tool')
}

const notGranted = (path: AbsolutePath, workspace: AbsolutePath): string =>
  `${path === workspace ? 'the workspace' : path} is not granted to this tool: policy: { ${readLine(path, workspace)} }`
