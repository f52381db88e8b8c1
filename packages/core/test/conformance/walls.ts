// The launcher inside a wall, as a candidate of the suite.
import type { WallName } from '../../src/policy/index.js'
import { CordonError } from '../../src/errors/index.js'
import { openSandbox } from '../../src/sandbox/index.js'

import type { Backend, Candidate } from './backend.js'
import { childrenOf, supervisors } from './native.js'

export const walledCandidate = async (backend: WallName, gaps: Candidate['gaps']): Promise<Candidate> => ({
  name: backend,
  missing: await problemOf(backend),
  gaps,
  open: async () => ({ ...(await openSandbox({ backend })), cellProcesses: walls }) satisfies Backend,
})

const problemOf = async (backend: WallName): Promise<string | undefined> => {
  try {
    await (await openSandbox({ backend, nursery: 'none' })).close()
    return undefined
  } catch (error) {
    if (error instanceof CordonError) return error.message
    throw error
  }
}

/** Each cell has a wall, around which the nursery keeps a process of its own. */
const walls = (): readonly number[] => supervisors().flatMap(childrenOf)
