import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { matches } from '../../policy/index.js'

import type { Program } from './program.js'

/**
 * A carve-out wins, also over the program itself; said here, because the kernel would only say that something was not
 * permitted.
 */
export const refuseCarvedOutProgram = (name: string, { executables, loaders }: Program, { read }: Boundary): void => {
  const isCarvedOut = (path: AbsolutePath) => read.some((pattern) => pattern.negated && matches(pattern, path))
  const hidden = [...executables, ...loaders].find(isCarvedOut)
  if (hidden === undefined) return
  const program = hidden === executables[0] ? name : `${hidden}, which ${name} is run by`
  throw fail('program-not-executable', {
    program,
    problem: 'the policy carves it out',
    fix: `remove the carve-out that takes ${hidden}`,
  })
}
