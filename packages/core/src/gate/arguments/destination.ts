import { coversEndpoint, matchPaths, readUrlPath } from '../../policy/index.js'
import type { Boundary, HostGrant } from '../../policy/index.js'

import type { UrlTarget } from './url-spelling.js'

/** Whether the network grants of a tool permit a URL. A URL has no method, so only the proxy checks methods. */
export const mayReach = (network: Boundary['network'], target: UrlTarget): boolean => {
  switch (network.kind) {
    case 'none':
      return false
    case 'all':
      return true
    case 'hosts': {
      const about = network.entries.filter((entry) => isAbout(entry, target))
      return (
        about.some(({ action }) => action !== 'deny') &&
        !about.some((entry) => entry.action === 'deny' && entry.methods.kind === 'all')
      )
    }
  }
}

const isAbout = (entry: HostGrant, target: UrlTarget): boolean =>
  coversEndpoint(entry, target.host, target.port) && pathMatches(entry, target.path)

/**
 * A grant must match every reading of the path, a denial only one. An ambiguous path fits no grant and every denial.
 */
const pathMatches = (entry: HostGrant, path: string): boolean => {
  const matches = matchPaths(entry)
  if (matches === undefined) return true
  const readings = readUrlPath(path)
  if (readings === 'ambiguous') return entry.action === 'deny'
  return entry.action === 'deny' ? readings.some(matches) : readings.every(matches)
}
