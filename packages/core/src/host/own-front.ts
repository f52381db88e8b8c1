// The native `cordon` of this installation, if it has one. Its installation wrote down what belongs to it
// (scripts/write-front.mjs).
import { dirname, join } from 'node:path'

import { PACKAGE_FOLDER, textOfFile } from '../platform/index.js'

export interface OwnFront {
  /** Names the host of exactly this Cordon. */
  readonly build: string
  readonly node: string
  readonly script: string
}

/** Of an installed package, and of a checkout. */
const PLACES = ['bin', 'build'].map((folder) => join(PACKAGE_FOLDER, folder, 'cordon'))

export const ownFront = (): OwnFront | undefined => {
  for (const path of PLACES) {
    const [build = '', node, script] = textOfFile(`${path}.front`)?.split('\n') ?? []
    if (node !== undefined && script !== undefined && dirname(script) === join(PACKAGE_FOLDER, 'bin'))
      return { build, node, script }
  }
  return undefined
}
