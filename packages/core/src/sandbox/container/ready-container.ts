// A started container that waits for its call.
import type { Boundary } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'
import { isStillTrue } from '../launch/ready-cell.js'
import type { ReadyCell } from '../launch/ready-cell.js'
import { areSameMounts, mountsFor } from './granted-mounts.js'
import type { GrantedMounts } from './granted-mounts.js'

export interface ReadyContainer extends ReadyCell {
  readonly mounts: GrantedMounts
}

/** Whether a container made now would be the same. */
export const isStillMade = (
  ready: ReadyContainer,
  { program, boundary }: { readonly program: string; readonly boundary: Boundary },
  sealed: readonly Place[],
): boolean => {
  if (!isStillTrue(ready, program, sealed)) return false
  try {
    return areSameMounts(ready.mounts, mountsFor(boundary, sealed))
  } catch {
    return false // Making another one fails in the same way, and the call reports it.
  }
}
