// Loaded only for `--backend container`.
import { openContainers } from '../sandbox/index.js'
import type { Sandbox } from '../sandbox/index.js'

import type { Environment } from '../line/arguments.js'

/** The environment may name the socket of the engine. */
export const openContainerCells = async (
  image: string,
  environment: Environment,
): Promise<Pick<Sandbox, 'attach' | 'close'>> => {
  const { attach, close } = await openContainers({}, environment)
  return { attach: (request) => attach({ ...request, image, program: request.argv[0] ?? '' }), close }
}
