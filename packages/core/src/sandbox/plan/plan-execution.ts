// The programs that a tool may start.
import { CordonError, fail } from '../../errors/index.js'

import { findProgram, libraryFolders, linkedLibraries, refuseCarvedOutProgram } from '../grants/program.js'
import type { Program } from '../grants/program.js'
import type { HostFacts } from './host-facts.js'
import { FORM_HAS } from './form-has.js'
import type { Execution } from './layout.js'
import type { CellRequest } from './planned-cell.js'

export const executionOf = (
  { boundary, cwd, searchPath, form }: CellRequest,
  program: Program,
  host: HostFacts,
): Execution => {
  if (boundary.exec.kind === 'all') return { kind: 'all' }
  const names = boundary.exec.kind === 'list' ? boundary.exec.programs : []
  const others = names.map((name) => {
    const found = findGranted(name, cwd, searchPath)
    refuseCarvedOutProgram(name, found, boundary)
    return found
  })
  const programs = [...new Set([program, ...others].flatMap(({ executables }) => executables))]
  const loaders = [...new Set([program, ...others].flatMap((each) => each.loaders))]
  // The kernel has to execute a loader, which then starts any program that it is given.
  if (!FORM_HAS[form].ownRoot && loaders.length > 0 && !host.listener.held) {
    throw fail('host-cannot-hold', {
      mechanism: 'exec',
      problem:
        'only a seccomp listener can keep the loader from starting other programs, and there is none ' +
        `(${host.listener.problem})`,
      fix: 'leave exec unspecified (all), or run outside of another sandbox',
    })
  }
  const files = [...programs, ...loaders]
  // Landlock lets code be mapped from a folder without executing the programs in it. Mounts cannot tell these apart.
  return {
    kind: 'only',
    programs,
    files,
    libraries: FORM_HAS[form].landlock ? libraryFolders() : linkedLibraries(files),
  }
}

/** The granted program is missing, not the command: that is another error, with another exit status. */
const findGranted = (name: string, cwd: string, searchPath: string): Program => {
  try {
    return findProgram(name, cwd, searchPath)
  } catch (error) {
    if (
      !(error instanceof CordonError) ||
      (error.code !== 'program-not-found' && error.code !== 'program-not-executable')
    )
      throw error
    throw fail(
      'grant-inexpressible',
      { section: 'exec', grant: name, problem: error.message, fix: `${error.fix ?? ''}; or remove it: --exec ${name}` },
      error,
    )
  }
}
