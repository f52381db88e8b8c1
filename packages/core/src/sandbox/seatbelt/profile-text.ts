// Makes the text of a Seatbelt profile from a planned boundary. Pure. The last rule that matches an operation decides
// it, so denials come after the grants that they take away from.
import type { AbsolutePath, PathPattern } from '../../policy/index.js'

import type { Place } from '../grants/object-at.js'
import { protectedRules } from './protected-rules.js'
import { ancestorsOf, carvedBy, filterOf, inEitherCase, literal, sbplString, regex, rule, subpath } from './sbpl.js'
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
  readonly read: readonly Place[]
  readonly write: readonly Place[]
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
