// The launcher inside a wall, as a candidate of the suite.
import { readFileSync } from 'node:fs'

import { CordonError } from '../../src/errors/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import type { WallName } from '../../src/sandbox/plan/wall-facts.js'

import type { Backend, Candidate } from './backend.js'

export const walledCandidate = async (backend: WallName, gaps: Candidate['gaps']): Promise<Candidate> => ({
  name: backend,
  missing: await problemOf(backend),
  gaps,
  open: async () => ({ ...(await openSandbox({ backend })), cellProcesses: () => walls(backend) }) satisfies Backend,
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

const PROGRAMS = { bubblewrap: 'bwrap', firejail: 'firejail' } as const

/** Each cell has a wall, a child of this process. */
const walls = (backend: keyof typeof PROGRAMS): readonly number[] =>
  textOf(`/proc/self/task/${String(process.pid)}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number)
    .filter((pid) => textOf(`/proc/${String(pid)}/comm`).trim() === PROGRAMS[backend])

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
