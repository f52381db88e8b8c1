// The native `cordon` of an installed package, a copy or a checkout, if it has one. The installation wrote down beside
// it what belongs to it (scripts/write-front.mjs).
import { isAbsolute, join, normalize } from 'node:path'

import { ifSeen, readOrdinaryFile } from './at-path.js'
import { PACKAGE_FOLDER } from './folders.js'

interface NativeFront {
  readonly program: string
  /** Names the host of exactly this Cordon. */
  readonly build: string
  readonly node: string
  readonly script: string
  /** Whether it was written for another place. Then it leaves everything to Node. */
  readonly isMoved: boolean
}

/** Of an installed package, and of a checkout. */
const FOLDERS = ['bin', 'build']

/** The package may be a project's, so the text may be anything. */
export const frontsIn = (packageFolder: string): readonly NativeFront[] =>
  FOLDERS.flatMap((folder) => {
    const program = join(packageFolder, folder, 'cordon')
    const text = ifSeen(() => readOrdinaryFile(`${program}.front`)) ?? ''
    const [build = '', node = '', script = ''] = text.split('\n')
    if (!isAbsolute(node) || normalize(node) !== node || text.includes('\0')) return []
    return [{ program, build, node, script, isMoved: script !== join(packageFolder, 'bin', 'cordon.js') }]
  })

/** Of this installation. Undefined if it has none that is in its place. */
export const ownFront = (): NativeFront | undefined => frontsIn(PACKAGE_FOLDER).find(({ isMoved }) => !isMoved)
