// Makes the text of a Seatbelt profile from a planned boundary. Pure. The last rule that matches an operation decides
// it, so denials come after the grants that they take away from.
import type { AbsolutePath, PathPattern } from '../../policy/index.js'
import { PROTECTED_NAMES, joinNames, protectionOf } from '../../policy/index.js'

import type { RealObject } from '../grants/object-at.js'
import {
  ancestorsOf,
  carvedBy,
  filterOf,
  inEitherCase,
  literal,
  sbplString,
  regex,
  rule,
  subpath,
  escaped,
} from './sbpl.js'
import {
  MACH_SERVICES,
  READ_DEVICES,
  RESOLVER,
  SYSCTLS,
  SYSCTL_PREFIXES,
  SYSTEM_FILES,
  SYSTEM_LINKS,
  WRITE_DEVICES,
} from './system-needs.js'

/** All paths are real paths: Seatbelt sees no links. */
export interface SeatbeltPlan {
  readonly read: readonly RealObject[]
  readonly write: readonly RealObject[]
  /** Grants and carve-outs of the policy, in its order. */
  readonly patterns: { readonly read: readonly PathPattern[]; readonly write: readonly PathPattern[] }
  readonly exec: 'all' | readonly AbsolutePath[]
  readonly network: 'none' | 'all' | { readonly port: number }
  readonly temporary: AbsolutePath
  readonly cwd: AbsolutePath
  readonly mayFork: boolean
}

export const profileText = (plan: SeatbeltPlan): string =>
  [
    '(version 1)',
    '(deny default)',
    ...processRules(plan),
    ...serviceRules(),
    ...networkRules(plan),
    ...fileRules(plan),
    '',
  ].join('\n')

/** The words that start a program. `-p` takes the profile itself. An absolute path is never read as an option. */
export const confinedBy = (plan: SeatbeltPlan, program: AbsolutePath, words: readonly string[]): readonly string[] => [
  '/usr/bin/sandbox-exec',
  '-p',
  profileText(plan),
  program,
  ...words,
]

/** `process-fork` is left out for a tool that may have one process. */
const processRules = ({ exec, mayFork }: SeatbeltPlan): readonly string[] => [
  ...(mayFork ? ['(allow process-fork)'] : []),
  ...rule('allow', 'process-exec*', exec === 'all' ? [] : exec.map(literal)),
  '(allow signal (target self) (target children))',
  '(allow process-info* (target self))',
]

const serviceRules = (): readonly string[] => [
  ...rule(
    'allow',
    'mach-lookup',
    MACH_SERVICES.map((name) => `(global-name ${sbplString(name)})`),
  ),
  ...rule('allow', 'sysctl-read', [
    ...SYSCTLS.map((name) => `(sysctl-name ${sbplString(name)})`),
    ...SYSCTL_PREFIXES.map((name) => `(sysctl-name-prefix ${sbplString(name)})`),
  ]),
]

/** Seatbelt knows addresses as `localhost` or `*` only. With granted hosts, the proxy's port is all there is. */
const networkRules = ({ network }: SeatbeltPlan): readonly string[] => {
  if (network === 'none') return []
  if (network !== 'all') return [`(allow network-outbound (remote tcp "localhost:${network.port}"))`]
  return [
    '(allow network-outbound (remote ip "*:*"))',
    '(allow network-bind (local ip "*:*"))',
    '(allow network-inbound (local ip "*:*"))',
    `(allow network-outbound ${literal(RESOLVER)})`,
  ]
}

const fileRules = (plan: SeatbeltPlan): readonly string[] => {
  const { read, write, patterns, exec, temporary, cwd } = plan
  // Code is loaded from what the tool can only read. With `exec: all` it may come from anywhere.
  const reading = `file-read* file-map-executable${exec === 'all' ? ' process-exec*' : ''}`
  const writing = `file-write* ${exec === 'all' ? reading : 'file-read*'}`
  const all = 'file-read* file-write* file-map-executable process-exec*'
  const carvedFrom = (section: readonly PathPattern[]) =>
    section.filter(({ negated }) => negated).map((pattern) => regex(carvedBy(pattern)))
  const carveOuts = [...patterns.read, ...patterns.write].filter(({ negated }) => negated)
  const places = [...read, ...write, { path: temporary }, { path: cwd }]
  return [
    ...rule('allow', 'file-read-metadata', [
      ...SYSTEM_LINKS.map(literal),
      ...[...places, ...SYSTEM_FILES].flatMap(({ path }) => ancestorsOf(path)).map(literal),
      literal(cwd),
    ]),
    ...rule('allow', writing, write.map(filterOf)),
    // A carve-out of `write` takes reading away too, unless `read` grants it.
    ...rule('deny', all, carvedFrom(patterns.write)),
    ...rule('allow', reading, [...SYSTEM_FILES, ...read].map(filterOf)),
    ...rule('deny', all, carvedFrom(patterns.read)),
    ...rule('deny', 'file-write-unlink file-write-create', [
      ...write.map(({ path }) => literal(path)),
      ...carveOuts.flatMap(foldersAround).map((folder) => regex(`^${inEitherCase(folder)}$`)),
    ]),
    ...rule('deny', 'file-write-unlink', carveOuts.flatMap(foldersWithin)),
    ...rule('allow', writing, [subpath(temporary)]),
    ...protectedRules(patterns.write, temporary),
    '(deny file-write-setugid)',
    ...rule('allow', 'file-read*', READ_DEVICES.map(literal)),
    ...rule('allow', 'file-write-data', WRITE_DEVICES.map(literal)),
    ...rule('allow', 'file-read-data file-write-data', [subpath('/dev/fd')]),
  ]
}

/** If one of these were moved, the carve-out would no longer match. If one were moved here, it would match too late. */
const foldersAround = ({ kind, base }: PathPattern): readonly AbsolutePath[] =>
  kind === 'literal' ? ancestorsOf(base) : [...ancestorsOf(base), base]

/** With a wildcard in the middle, every folder may have matches inside. */
const foldersWithin = ({ kind, base, segments }: PathPattern): readonly string[] => {
  const literals = segments.findIndex((segment) => segment.kind !== 'name')
  return kind === 'pattern' && segments.length - literals > 1
    ? [`(require-all ${subpath(base)} (vnode-type DIRECTORY))`]
    : []
}

/**
 * Protected names. Linux seals the names that exist and watches for new ones. Seatbelt compares paths, so one rule
 * covers both.
 *
 * A program could make a protected name elsewhere, and move the folder around it. So a name is protected at every
 * depth, also among installed dependencies, and its first parts (`.git`) cannot be made, moved or removed. In the
 * private folder the names are free, and folders cannot be moved out of it.
 */
const protectedRules = (write: readonly PathPattern[], temporary: AbsolutePath): readonly string[] => {
  const grants = write.filter(({ negated }) => !negated)
  if (grants.length === 0) return [...keptInside(temporary)]
  const outside = `(require-not ${subpath(temporary)})`
  const within = (filter: string) => `(require-all ${outside} ${filter})`
  const contents = PROTECTED_NAMES.flatMap(({ name, scope, object }) =>
    scope === 'root'
      ? foldersOf(grants)
          .filter((folder) => protectionOf(grants, `${folder}/${name}` as AbsolutePath) !== undefined)
          .map((folder) => regex(`^${escaped(folder)}/${inEitherCase(name)}$`))
      : exceptNamed(name, object === 'file' ? '$' : '(/.*)?$', grants),
  )
  const beginnings = new Set(PROTECTED_NAMES.flatMap(({ name }) => beginningsOf(name)))
  return [
    ...rule('deny', 'file-write*', contents.map(within)),
    ...rule(
      'deny',
      'file-write-create file-write-unlink',
      [...beginnings].map((name) => within(regex(`/${inEitherCase(name)}$`))),
    ),
    ...keptInside(temporary),
  ]
}

const keptInside = (temporary: AbsolutePath) =>
  rule('deny', 'file-write-unlink', [literal(temporary), `(require-all ${subpath(temporary)} (vnode-type DIRECTORY))`])

/** `.config/pip` begins with `.config`. */
const beginningsOf = (name: string): readonly string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'))

/** A name, except for the objects that a write grant spells out. Beneath those it is protected again. */
const exceptNamed = (name: string, end: string, grants: readonly PathPattern[]): readonly string[] => {
  const everywhere = regex(`/${inEitherCase(name)}${end}`)
  const named = namedIn(grants, name)
  if (named.length === 0) return [everywhere]
  return [
    `(require-all ${everywhere} ${named.map((path) => `(require-not ${subpath(path)})`).join(' ')})`,
    ...named.map((path) => regex(`^${escaped(path)}/(.*/)?${inEitherCase(name)}${end}`)),
  ]
}

/** A grant whose part before the name has a wildcard names no object: its matches stay read-only. */
const namedIn = (grants: readonly PathPattern[], name: string): readonly AbsolutePath[] => {
  const wanted = name.split('/')
  return grants.flatMap(({ segments }) => {
    const firstWild = segments.findIndex(({ kind }) => kind !== 'name')
    const names = segments
      .slice(0, firstWild === -1 ? segments.length : firstWild)
      .flatMap((segment) => (segment.kind === 'name' ? [segment.name] : []))
    return names.flatMap((_, end) => {
      const tail = names.slice(Math.max(0, end + 1 - wanted.length), end + 1)
      return tail.join('/') === name ? [joinNames(names.slice(0, end + 1))] : []
    })
  })
}

/** Where grants begin. Names such as package.json are protected directly there. */
const foldersOf = (grants: readonly PathPattern[]): readonly string[] => [
  ...new Set(grants.map(({ base }) => (base === '/' ? '' : base))),
]
