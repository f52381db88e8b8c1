// Loaded only for `--backend container`.
import { openContainers } from '../sandbox/index.js'

import type { Environment } from '../line/command-line.js'
import type { RunPlace } from './run-place.js'

/** The environment may name the socket of the engine. */
export const openContainerPlace = async (image: string, environment: Environment): Promise<RunPlace> => {
  const { attach, close } = await openContainers({}, environment)
  return {
    attach: (request) => attach({ ...request, image, program: request.argv[0] ?? '' }),
    close,
    streams: 'passed-on',
    isNested: false,
  }
}
