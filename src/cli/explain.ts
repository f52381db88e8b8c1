// What is said on stderr after a run: what was refused or ended, and which option would have let it.
import { CordonError } from '../errors/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { escapeGlob, isReadable, resolvePolicy } from '../policy/index.js'
import { describeViolation, folderAround, startNeedsOf } from '../sandbox/index.js'
import type { CallResult, RefusedOpen, StartContext, StartNeeds, Violation } from '../sandbox/index.js'

import type { RunOrder } from './run-request.js'
import { asWord } from './shell-word.js'

const MOST_LINES = 20

/** Limits and what was set aside are always told; refusals, when the command failed or was observed. */
export const explainViolations = (result: CallResult, observed: boolean): readonly string[] => {
  const failed = result.status !== 'exited' || result.exitCode !== 0
  const told = result.violations.filter(({ kind }) => ALWAYS_TOLD.has(kind) || failed || observed)
  const lines = [...new Set(told.map((violation) => `${describeViolation(violation)}${wayOut(violation)}`))]
  const more = lines.length - MOST_LINES
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${String(more)} more; --facts FILE has all of them`] : lines
}

const ALWAYS_TOLD: ReadonlySet<Violation['kind']> = new Set(['memory', 'processes', 'cpu', 'wall', 'output', 'scratch', 'protected'])

/** The option that would have let it, where there is one. */
const wayOut = (violation: Violation): string => {
  switch (violation.kind) {
    case 'file':
      return isGrantable(violation) ? `: add --${violation.access} ${asWord(escapeGlob(violation.path))}` : ''
    case 'connect':
      return violation.family === 'inet' || violation.family === 'inet6' ? ': add --net all' : ''
    case 'exec':
      return `: add --exec ${asWord(violation.path)}`
    case 'listen':
    case 'metadata':
    case 'protected':
      return ''
    case 'scratch':
      return ' (limits.scratch)'
    case 'wall':
      return ' (--timeout)'
    case 'memory':
    case 'output':
    case 'processes':
    case 'cpu':
      return ` (--${violation.kind})`
  }
}

const isGrantable = ({ access, path }: RefusedOpen): boolean => !(access === 'read' ? /^\/(?:proc|dev)\// : /^\/(?:proc|dev|sys)\//).test(path)

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
