import { dirname } from 'node:path'

import { CordonError } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { escapeGlob, isReadable, resolvePolicy } from '../../policy/index.js'
import { SYSTEM_PATH, folderAround, startNeedsOf } from '../../sandbox/index.js'
import type { StartContext, StartNeeds } from '../../sandbox/index.js'

import type { RunOrder } from '../request/run-request.js'
import { asWord } from '../text/shell-word.js'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Why a program may have failed for want of files: it lies where only its own file was granted, the
 * loader cannot find one of its libraries, or env does not find its interpreter. Of a program in any
 * odd folder that is said only when it did not even start (127), because most of them fail for reasons
 * of their own.
 */
export const adviseOnStart = (
  order: RunOrder,
  boundary: Boundary,
  exitCode: number,
  environment: Variables,
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
    isToolchain(path) ? '--preset toolchains' : `--read ${asWord(escapeGlob(folderAround(path)))}`
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

/** `#!/usr/bin/env node`: env looks in the PATH of the cell, which is not the one of here. */
const adviseOnEnv = ({ lookedUp }: StartNeeds, boundary: Boundary, environment: Variables): readonly string[] => {
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
    // The program itself moved away meanwhile.
    if (error instanceof CordonError) return undefined
    throw error
  }
}
