// The folder that only one call can use, for temporary files.
import { randomBytes } from 'node:crypto'

import type { AbsolutePath, Form } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'
import type { HostFacts } from './host-facts.js'
import { FORM_HAS, bringsMounts } from './host-facts.js'

/** In a cell with its own root it is /tmp, unless the policy grants the host's. */
export const temporaryParentFor = (form: Form, host: HostFacts, granted: readonly Place[]): AbsolutePath => {
  if (!FORM_HAS[form].ownRoot && !bringsMounts(host.wall)) return host.temporaryFolder
  return (granted.some(({ path }) => path === '/tmp') ? '/.tmp' : '/tmp') as AbsolutePath
}

export const newFolderIn = (parent: AbsolutePath): AbsolutePath =>
  `${parent}/cordon-${randomBytes(12).toString('hex')}` as AbsolutePath
