import type { Boundary } from '../boundary.js'
import { coversHost } from '../network/covers-host.js'
import { nearestKey } from '../nearest-key.js'
import { parseRequestHost } from '../network/network-request.js'

/**
 * A name that has a given address, but that no policy grants. It is probably misspelt, and the address of the right
 * name would be looked up as usual. `near`: a granted name that is close to it.
 */
export const strayName = (
  names: Iterable<string>,
  networks: readonly Boundary['network'][],
): { readonly name: string; readonly near: string | undefined } | undefined => {
  if (networks.some(({ kind }) => kind === 'all')) return undefined
  const entries = networks.flatMap((network) => (network.kind === 'hosts' ? network.entries : []))
  for (const name of names) {
    const host = parseRequestHost(name)
    if (host === undefined || entries.some(({ destination }) => coversHost(destination, host))) continue
    return {
      name,
      near: nearestKey(
        name,
        entries.flatMap(({ destination }) => (destination.kind === 'host' ? [destination.host] : [])),
      ),
    }
  }
  return undefined
}
