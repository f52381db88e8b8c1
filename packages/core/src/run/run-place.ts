// Where a command runs: in a cell of this host, or in a cell in a container.
import { openSandbox } from '../sandbox/index.js'
import type { Sandbox } from '../sandbox/index.js'

import type { Environment } from '../line/arguments.js'
import type { RunOrder } from './request/run-request.js'

export interface RunPlace extends Pick<Sandbox, 'attach' | 'close'> {
  /** Whether a command has the terminal and the descriptors of this process. Otherwise its input is passed on. */
  readonly streams: 'own' | 'passed-on'
  /** Whether this process is itself inside a cell. */
  readonly isNested: boolean
}

export type OpenPlace = (order: RunOrder, environment: Environment) => Promise<RunPlace>

export const openPlace: OpenPlace = async (order, environment) => {
  const { backend, form, image } = order
  if (image !== undefined) {
    const { openContainerCells } = await import('./container-place.js')
    return { ...(await openContainerCells(image, environment)), streams: 'passed-on', isNested: false }
  }
  const { attach, close, host } = await openSandbox({ backend, form, nursery: 'none' })
  return { attach, close, streams: 'own', isNested: host.nesting.held }
}
