import { PACKAGE_FOLDER, frontsIn } from '../platform/index.js'
import type { NativeFront } from '../platform/index.js'

/** Undefined if this installation has none. */
export const ownFront = (): NativeFront | undefined => frontsIn(PACKAGE_FOLDER).find(({ isMoved }) => !isMoved)
