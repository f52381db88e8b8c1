// What a cell with granted hosts finds where programs look for name servers and for certificates to trust.
import { readFileSync, realpathSync } from 'node:fs'

import type { AbsolutePath } from '../../policy/index.js'

import { objectAt } from '../grants/object-at.js'
import type { SystemView, TextFile } from '../grants/system-view.js'

export interface NetworkFiles {
  /** How names are found: in a root of the cell's own. */
  readonly names: readonly TextFile[]
  /** Over files that the cell has from the host. */
  readonly covers: readonly TextFile[]
  /** In the private folder. */
  readonly own: readonly TextFile[]
}

export const NO_NETWORK_FILES: NetworkFiles = { names: [], covers: [], own: [] }

const path = (text: string) => text as AbsolutePath

const NAMES: readonly TextFile[] = [
  // The keeper answers there, and nobody else is.
  { path: path('/etc/resolv.conf'), content: 'nameserver 127.0.0.1\n' },
  // What the host's file says about granted names must not count: they are reached by way of the proxy, wherever they
  // are.
  { path: path('/etc/hosts'), content: '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n' },
  {
    path: path('/etc/nsswitch.conf'),
    content: 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  },
]

// Where distributions keep all authorities in one file; one of these is everywhere.
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

const AUTHORITIES = '.cordon-authorities.pem'

export const authoritiesIn = (temporary: AbsolutePath): AbsolutePath => path(`${temporary}/${AUTHORITIES}`)

/** Of a private folder that is smaller than this nothing is taken for what the system has already. */
const AMPLE_SCRATCH = 1 << 20

/** `authority`: what the proxy's certificates are issued by, beside those that the host trusts. */
export const networkFiles = (authority: string, temporary: AbsolutePath, scratch: number): NetworkFiles => {
  const bundles = [...new Set(BUNDLES.flatMap(realFile))]
  const trusted = bundles.flatMap(textOf)
  // Its own first: Java's keytool takes one certificate of a file, and that is the one that is missing there.
  const content = [authority.trimEnd(), ...trusted.slice(0, 1)].join('\n')
  return {
    names: NAMES,
    covers: [
      ...bundles.map((at) => ({ path: at, content })),
      ...NAMES.filter((file) => objectAt(file.path) === 'file'),
    ],
    own: [
      { path: authoritiesIn(temporary), content: scratch < AMPLE_SCRATCH ? authority : content },
      // wget knows no variable for it, but reads this in its home; the authorities of the system it trusts besides.
      { path: path(`${temporary}/.wgetrc`), content: `ca_certificate = ~/${AUTHORITIES}\n` },
    ],
  }
}

/** The same view, with these in place of what the host has there. */
export const withFiles = (system: SystemView, files: readonly TextFile[]): SystemView => {
  const isReplaced = ({ path: at }: { readonly path: AbsolutePath }) => files.some((file) => file.path === at)
  return {
    places: system.places.filter((place) => !isReplaced(place)),
    links: system.links.filter((link) => !isReplaced(link)),
    files: [...system.files.filter((file) => !isReplaced(file)), ...files],
  }
}

const realFile = (at: string): readonly AbsolutePath[] => {
  try {
    const real = path(realpathSync(at))
    return objectAt(real) === 'file' ? [real] : []
  } catch {
    return []
  }
}

const textOf = (at: AbsolutePath): readonly string[] => {
  try {
    const text = readFileSync(at, 'utf8')
    return text.includes('\0') ? [] : [text]
  } catch {
    return []
  }
}
