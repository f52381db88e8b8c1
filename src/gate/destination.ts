import { bindGlob, coversEndpoint, matches } from '../policy/index.js'
import type { Boundary, HostGrant } from '../policy/index.js'

import { normalisedPath } from './path-spelling.js'
import type { UrlTarget } from './url-spelling.js'

/** Whether the network grants of a tool let it reach a URL. Methods are for the proxy: a URL does not say which. */
export const mayReach = (network: Boundary['network'], target: UrlTarget): boolean => {
  switch (network.kind) {
    case 'none':
      return false
    case 'all':
      return true
    case 'hosts': {
      const about = network.entries.filter((entry) => isAbout(entry, target))
      return about.some(({ action }) => action !== 'deny') && !about.some((entry) => entry.action === 'deny' && entry.methods.kind === 'all')
    }
  }
}

const isAbout = (entry: HostGrant, target: UrlTarget): boolean =>
  coversEndpoint(entry, target.host, target.port) && pathMatches(entry, target.path)

// URL paths are globs from the root; there is no workspace or home in a URL.
const URL_PLACES = { workspace: '/', home: '/' } as Parameters<typeof bindGlob>[1]
const AMBIGUOUS = /%2e|%2f|%5c|\/\//i

/** A path that servers read in different ways fits no grant and every denial. */
const pathMatches = ({ paths, action }: HostGrant, path: string): boolean => {
  if (paths.kind === 'all') return true
  const normalised = AMBIGUOUS.test(path) ? undefined : normalisedPath(path)
  if (normalised === undefined) return action === 'deny'
  return paths.items.some((glob) => bindGlob(glob, URL_PLACES).some((pattern) => matches(pattern, normalised)))
}
