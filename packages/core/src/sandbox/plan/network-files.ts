// The files of a cell with granted hosts: for name resolution, and for certificates to trust.

import { textOfFile } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import { objectAt, realPathOf } from '../grants/object-at.js'
import type { SystemView, TextFile } from '../grants/system-view.js'

interface NetworkFiles {
  /** For name resolution, in the cell's own root. */
  readonly names: readonly TextFile[]
  /** They replace files of the host. */
  readonly covers: readonly TextFile[]
  /** In the private folder. */
  readonly own: readonly TextFile[]
}

export const NO_NETWORK_FILES: NetworkFiles = { names: [], covers: [], own: [] }

const path = (text: string) => text as AbsolutePath

const NAMES: readonly TextFile[] = [
  // The keeper answers there.
  { path: path('/etc/resolv.conf'), content: 'nameserver 127.0.0.1\n' },
  // The host's entries must not apply to granted names, which are reached through the proxy.
  { path: path('/etc/hosts'), content: '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n' },
  {
    path: path('/etc/nsswitch.conf'),
    content: 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  },
]

// Of distributions.
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

const AUTHORITIES = '.cordon-authorities.pem'

export const authoritiesIn = (temporary: AbsolutePath): AbsolutePath => path(`${temporary}/${AUTHORITIES}`)

/** A smaller private folder gets only Cordon's own authority. */
const AMPLE_SCRATCH = 1 << 20

/** `authority`: the proxy's, added to those that the host trusts. */
export const networkFiles = (authority: string, temporary: AbsolutePath, scratch: number): NetworkFiles => {
  const bundles = [...new Set(BUNDLES.flatMap(realFile))]
  const trusted = bundles.flatMap((at) => textOfFile(at) ?? []).filter((text) => !text.includes('\0'))
  // Its own first: Java's keytool reads only one certificate of a file.
  const content = [authority.trimEnd(), ...trusted.slice(0, 1)].join('\n')
  return {
    names: NAMES,
    covers: [
      ...bundles.map((at) => ({ path: at, content })),
      ...NAMES.filter((file) => objectAt(file.path) === 'file'),
    ],
    own: [
      { path: authoritiesIn(temporary), content: scratch < AMPLE_SCRATCH ? authority : content },
      // wget has no variable for it, but reads this file, and trusts the system's authorities too.
      { path: path(`${temporary}/.wgetrc`), content: `ca_certificate = ~/${AUTHORITIES}\n` },
    ],
  }
}

/** The same view, with these files in place of the host's. */
export const withFiles = (system: SystemView, files: readonly TextFile[]): SystemView => {
  const isReplaced = ({ path: at }: { readonly path: AbsolutePath }) => files.some((file) => file.path === at)
  return {
    places: system.places.filter((place) => !isReplaced(place)),
    links: system.links.filter((link) => !isReplaced(link)),
    files: [...system.files.filter((file) => !isReplaced(file)), ...files],
  }
}

const realFile = (at: string): readonly AbsolutePath[] => {
  const real = realPathOf(at)
  return real !== undefined && objectAt(real) === 'file' ? [real] : []
}
