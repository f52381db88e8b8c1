// What is said on stderr after a run: what was refused or ended, and which option would have let it.
import { CordonError } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { escapeGlob, isReadable, resolvePolicy } from '../policy/index.js'
import { folderAround, startNeedsOf } from '../sandbox/index.js'
import type { CallResult, StartContext, StartNeeds, Violation } from '../sandbox/index.js'

import type { RunOrder } from './run-request.js'

const MOST_LINES = 20

/** Limits and what was set aside are always told; refusals, when the command failed or was observed. */
export const explainViolations = ({ violations, status, exitCode }: CallResult, observed: boolean): readonly string[] => {
  const failed = status !== 'exited' || exitCode !== 0
  const told = violations.filter(({ kind }) => ALWAYS_TOLD.has(kind) || failed || observed)
  const lines = [...new Set(told.map(explainViolation))]
  const more = lines.length - MOST_LINES
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${String(more)} more; --facts FILE has all of them`] : lines
}

const ALWAYS_TOLD: ReadonlySet<Violation['kind']> = new Set(['memory', 'processes', 'cpu', 'wall', 'output', 'scratch', 'protected'])

const explainViolation = ({ kind, attempted, detail }: Violation): string => {
  switch (kind) {
    case 'file':
      return explainFile(attempted, detail)
    case 'connect':
      return attempted.startsWith('/') ? `refused connection to the socket ${attempted}` : `refused connection to ${attempted}: add --net all`
    case 'listen':
      return `refused to listen on ${attempted}`
    case 'exec':
      return `refused to execute ${attempted}: add --exec ${asWord(attempted)}`
    case 'protected':
      return `protected name ${attempted}: ${detail}`
    case 'processes':
      return `refused ${attempted}: ${detail} (--processes)`
    case 'scratch':
      return `its private folder is full: limit of ${asSize(limitIn(detail))} (limits.scratch)`
    case 'memory':
    case 'output':
      return `ended by its ${kind} limit of ${asSize(limitIn(detail))}: ${asSize(attempted)} used (--${kind})`
    case 'cpu':
      return `ended by its processor time limit of ${asTime(limitIn(detail))} (--cpu)`
    case 'wall':
      return `ended by its wall-clock limit of ${asTime(limitIn(detail))} (--timeout)`
  }
}

const explainFile = (path: string, detail: string): string => {
  const access = /^(read|write): /.exec(detail)?.[1]
  if (access === undefined) return `refused change of ${path}: ${detail}`
  const reason = detail.includes('protected: ') ? ` (${detail.slice(access.length + 2)})` : ''
  const grantable = access === 'read' ? !/^\/(?:proc|dev)\//.test(path) : !/^\/(?:proc|dev|sys)\//.test(path)
  return `refused ${access} of ${path}${reason}${grantable ? `: add --${access} ${asWord(escapeGlob(path))}` : ''}`
}

/** As it can be typed into a shell. */
const asWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** Of `limit 1024`. */
const limitIn = (detail: string): string => /\d+/.exec(detail)?.[0] ?? detail

const UNITS: readonly (readonly [string, number])[] = [['G', 2 ** 30], ['M', 2 ** 20], ['K', 2 ** 10]]

const asSize = (bytes: string): string => {
  const number = Number(bytes)
  const [unit, factor] = UNITS.find(([, size]) => number >= size) ?? ['B', 1]
  return Number.isFinite(number) ? `${String(Math.round((number / factor) * 10) / 10)}${unit}` : bytes
}

const asTime = (milliseconds: string): string => {
  const number = Number(milliseconds)
  if (!Number.isFinite(number)) return milliseconds
  return number < 1000 ? `${String(number)}ms` : `${String(Math.round(number / 10) / 100)}s`
}

/**
 * Why a program may have failed for want of files: it lies where only its own file was granted, or
 * the loader cannot find one of its libraries. Of a program in any odd folder that is said only when
 * it did not even start (127), because most of them fail for reasons of their own.
 */
export const adviseOnStart = (order: RunOrder, boundary: Boundary, exitCode: number, environment: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const { PATH: searchPath = '', LD_LIBRARY_PATH: libraryPath = '' } = environment
  const needs = startNeedsNow(order, { cwd: order.cwd, searchPath, libraryPath, isReadable: (path) => isReadable(boundary, path) })
  if (needs === undefined) return []
  const withToolchains = resolvePolicy({ ...order.policy, presets: [...order.policy.presets, 'toolchains'] }, { ...order, kind: 'process' })
  const isToolchain = (path: AbsolutePath): boolean => isReadable(withToolchains, path)
  const grantFor = (path: AbsolutePath): string => (isToolchain(path) ? '--preset toolchains' : `--read ${asWord(escapeGlob(folderAround(path)))}`)
  const reasons = [
    ...needs.libraries.map(({ name, path }) => ({ grant: grantFor(path), reason: `the program needs ${name}, which is at ${path}` })),
    ...needs.alone
      .filter((path) => isToolchain(path) || exitCode >= EXIT_NOT_STARTED)
      .map((path) => ({ grant: grantFor(path), reason: `only the file ${path} is granted, not what lies around it` })),
  ]
  return reasons.filter(({ grant }, at) => reasons.findIndex((other) => other.grant === grant) === at).map(({ grant, reason }) => `${reason}: if it lacks files, add ${grant}`)
}

const EXIT_NOT_STARTED = 126

const startNeedsNow = (order: RunOrder, context: StartContext): StartNeeds | undefined => {
  try {
    return startNeedsOf(order.argv[0] ?? '', context)
  } catch (error) {
    // The program itself moved away meanwhile.
    if (error instanceof CordonError) return undefined
    throw error
  }
}
