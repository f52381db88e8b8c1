// The cell inside a container, as a candidate of the suite.
import { openContainers } from '../../src/sandbox/index.js'

import type { Backend, Candidate } from './backend.js'

export interface ContainerSource {
  readonly name: string
  /** Of the engine. */
  readonly socket: string
  readonly image: string
  readonly missing: string | undefined
  /** The containers' first processes, by their numbers here. */
  readonly processes: () => readonly number[]
}

export const containerCandidate = (source: ContainerSource, gaps: Candidate['gaps']): Candidate => ({
  name: source.name,
  missing: source.missing,
  gaps,
  open: async () => {
    const containers = await openContainers({ socket: source.socket }, {})
    return {
      run: ({ argv, ...request }) =>
        containers.run({ ...request, image: source.image, program: argv[0] ?? '' }, { ...request, argv }),
      warm: (settings) => containers.warm({ ...settings, image: source.image }),
      close: containers.close,
      cellProcesses: source.processes,
    } satisfies Backend
  },
})
