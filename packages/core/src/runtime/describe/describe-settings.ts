// Options of createCordon that concern all tools, as a manifest has them.
import type { VaultAccess } from '../../egress/index.js'
import { hashOf } from '../../gate/index.js'
import { portablePath } from '../../manifest/index.js'
import type { ManifestAgent, ProjectPlaces } from '../../manifest/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { CordonOptions } from '../cordon-options.js'

/** `home`: of the agent. `places`: of the project and its user. */
export const describeSettings = (
  { egress = {}, sandbox = {} }: CordonOptions,
  home: AbsolutePath,
  places: ProjectPlaces,
): NonNullable<ManifestAgent['settings']> => {
  const { pins = {}, authorities = [], vault } = egress
  const { form = 'auto', launcher } = sandbox
  const ownHome = portablePath(home, places)
  const pinned = Object.entries(pins).map(([host, addresses]) => [host.toLowerCase(), [...addresses].sort()] as const)
  return withoutUndefined({
    home: ownHome === '~' ? undefined : ownHome,
    pins: pinned.length === 0 ? undefined : Object.fromEntries(pinned),
    authorities: authorities.length === 0 ? undefined : [...new Set(authorities.map((pem) => hashOf(pem)))].sort(),
    vault: vault === undefined ? undefined : vaultText(vault),
    form: form === 'auto' ? undefined : form,
    launcher: launcher === undefined ? undefined : portablePath(launcher, places),
  })
}

/** Without a password, and never with the token. */
const vaultText = ({ address, namespace = '', authorities = [] }: VaultAccess): string => {
  const shown = address.replace(/\/\/[^/]*@/, '//')
  return namespace === '' && authorities.length === 0 ? shown : `${shown} ${hashOf([namespace, ...authorities])}`
}
