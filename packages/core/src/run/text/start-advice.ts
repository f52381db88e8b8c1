// Advice for a program that did not start because files are missing.
import { dirname } from 'node:path'

import { CordonError } from '../../errors/index.js'
import { shellWord } from '../../platform/index.js'
import { escapeGlob, isReadable, resolvePolicy } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { SYSTEM_PATH, folderAround, startNeedsOf } from '../../sandbox/index.js'
import type { StartContext, StartNeeds } from '../../sandbox/index.js'

import type { Environment } from '../../line/arguments.js'
import type { RunOrder } from '../request/run-request.js'

/**
 * Why a program may lack files: only its own file was granted, the loader does not find a library, or env does not find
 * the interpreter. Programs in unusual folders get this advice only if they did not start (127), because most fail for
 * other reasons.
 */
export const adviseOnStart = (
  order: RunOrder,
  boundary: Boundary,
  exitCode: number,
  environment: Environment,
): readonly string[] => {
  const { PATH: searchPath = '', LD_LIBRARY_PATH: libraryPath = '' } = environment
  const needs = startNeedsNow(order, {
    cwd: order.cwd,
    searchPath,
    libraryPath,
    isReadable: (path) => isReadable(boundary, path),
  })
  if (needs === undefined) return []
  const withToolchains = resolvePolicy(
    { ...order.policy, presets: [...order.policy.presets, 'toolchains'] },
    { ...order, kind: 'process' },
  )
  const isToolchain = (path: AbsolutePath): boolean => isReadable(withToolchains, path)
  const grantFor = (path: AbsolutePath): string =>
    isToolchain(path) ? '--preset toolchains' : `--read ${shellWord(escapeGlob(folderAround(path)))}`
  const reasons = [
    ...needs.libraries.map(({ name, path }) => ({
      grant: grantFor(path),
      reason: `the program needs ${name}, which is at ${path}`,
    })),
    ...needs.alone
      .filter((path) => isToolchain(path) || exitCode >= EXIT_NOT_STARTED)
      .map((path) => ({ grant: grantFor(path), reason: `only the file ${path} is granted, not its folder` })),
  ]
  const advice = reasons
    .filter(({ grant }, at) => reasons.findIndex((other) => other.grant === grant) === at)
    .map(({ grant, reason }) => `${reason}: if files are missing, add ${grant}`)
  return exitCode < EXIT_NOT_STARTED ? advice : [...adviseOnEnv(needs, boundary, environment), ...advice]
}

const EXIT_NOT_STARTED = 126

/** `#!/usr/bin/env node`: env uses the PATH of the cell, which differs from yours. */
const adviseOnEnv = ({ lookedUp }: StartNeeds, boundary: Boundary, environment: Environment): readonly string[] => {
  const given = boundary.environment.find(({ name }) => name === 'PATH')?.value
  const cellPath =
    given === undefined ? SYSTEM_PATH : given.kind === 'set' ? given.text : (environment['PATH'] ?? SYSTEM_PATH)
  if (lookedUp === undefined || cellPath.split(':').includes(dirname(lookedUp.path))) return []
  return [
    `env looks for ${lookedUp.name} in the PATH of the cell (${cellPath}), but it is ${lookedUp.path}: add --env PATH`,
  ]
}

const startNeedsNow = (order: RunOrder, context: StartContext): StartNeeds | undefined => {
  try {
    return startNeedsOf(order.argv[0] ?? '', context)
  } catch (error) {
    // The program was removed meanwhile.
    if (error instanceof CordonError) return undefined
    throw error
  }
}
