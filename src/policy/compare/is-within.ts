import { parseAbsolutePath } from '../glob/absolute-path.js'
import { isReadable } from '../resolve/access.js'
import type { Boundary } from '../boundary.js'
import type { Credential } from '../credential.js'
import type { Effective } from './effective.js'
import { effectiveOf } from './effective.js'
import { credentialTexts } from '../resolve/canonical-credential.js'
import { variableText } from '../resolve/canonical-policy.js'
import { readBeyond, writeBeyond } from './files-within.js'
import { renderDestination } from '../network/host-grant.js'
import { EGRESS_CLASSES } from '../model.js'
import type { EnvironmentEntry, Limits, ToolKind, ToolPolicy } from '../model.js'
import { networkBeyond } from './network-within.js'
import { LIMIT_NAMES } from '../parse/parse-limits.js'
import { placesToTry } from './symbolic-places.js'
import type { Places } from '../glob/path-pattern.js'
import type { Witness } from './witness.js'

export interface WithinContext extends Places {
  /** Decides what an omitted section means. Default: `process`. */
  readonly kind: ToolKind
}

export type Within = { readonly within: true } | { readonly within: false; readonly witness: Witness }

/**
 * Whether `a` allows nothing beyond `b`. If an exact answer takes too long, it is no, with the witness `undecided`.
 * Risk is not compared, because it grants nothing.
 *
 * Without a context, `a` must be within `b` for several positions of workspace and home.
 */
export const isWithin = (
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  context?: Partial<WithinContext>,
): Within => {
  for (const check of checks(a, b, context)) {
    const witness = check()
    if (witness !== undefined) return { within: false, witness }
  }
  return { within: true }
}

/** A witness for every section and limit in which `a` goes beyond `b`. */
export const beyond = (
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  context?: Partial<WithinContext>,
): readonly Witness[] => {
  const found = new Map<string, Witness>()
  for (const check of checks(a, b, context)) {
    const witness = check()
    if (witness === undefined || found.has(sectionOf(witness))) continue
    found.set(sectionOf(witness), witness)
  }
  return [...found.values()]
}

const sectionOf = (witness: Witness): string => {
  switch (witness.kind) {
    case 'file':
      return witness.access
    case 'undecided':
      return witness.section
    case 'limit':
      return `limit ${witness.limit}`
    case 'environment':
      return `environment ${witness.entry.name}`
    case 'credential':
      return `credential ${witness.id}`
    default:
      return witness.kind
  }
}

type Check = () => Witness | undefined

const checks = (
  a: ToolPolicy | Boundary,
  b: ToolPolicy | Boundary,
  context: Partial<WithinContext> = {},
): readonly Check[] => {
  const { workspace, home, kind = 'process' } = context
  const places = workspace !== undefined && home !== undefined ? [{ workspace, home }] : placesToTry(a, b)
  return places.flatMap((place) => checksAt(effectiveOf(a, { ...place, kind }), effectiveOf(b, { ...place, kind })))
}

const checksAt = (a: Effective, b: Effective): readonly Check[] => [
  ...LIMIT_NAMES.map((name) => () => limitBeyond(name, a.boundary.limits, b.boundary.limits)),
  () => requireBeyond(a, b),
  () => egressClassBeyond(a, b),
  ...a.boundary.environment.map((entry) => () => environmentBeyond(entry, b)),
  () => anyVariableBeyond(a, b),
  ...a.boundary.credentials.map((credential) => () => credentialBeyond(credential, b)),
  () => execBeyond(a, b),
  () => networkBeyond(a.boundary, b.boundary),
  () => readBeyond(a.reading, b.reading),
  () => writeBeyond(a.writing, b.writing),
]

const limitBeyond = (limit: keyof Limits, a: Limits, b: Limits): Witness | undefined => {
  const [value = 'unlimited', bound] = [a[limit], b[limit]]
  return bound === undefined || (value !== 'unlimited' && value <= bound)
    ? undefined
    : { kind: 'limit', limit, value, bound }
}

/** A tool without a mechanism that the other requires is less confined. */
const requireBeyond = (a: Effective, b: Effective): Witness | undefined => {
  const mechanism = b.boundary.require.find((name) => !a.boundary.require.includes(name))
  return mechanism === undefined ? undefined : { kind: 'require', mechanism }
}

const egressClassBeyond = (a: Effective, b: Effective): Witness | undefined => {
  const [level, bound] = [a.boundary.egressClass.level, b.boundary.egressClass.level]
  return EGRESS_CLASSES.indexOf(level) <= EGRESS_CLASSES.indexOf(bound)
    ? undefined
    : { kind: 'egress_class', level, bound }
}

/** A passed and a set variable differ: neither is within the other. */
const environmentBeyond = (entry: EnvironmentEntry, b: Effective): Witness | undefined =>
  b.anyVariable || b.boundary.environment.some((other) => variableText(other) === variableText(entry))
    ? undefined
    : { kind: 'environment', entry }

/** A credential is within another if it fills the same place of requests to the same host, and of no more requests. */
const credentialBeyond = (credential: Credential, b: Effective): Witness | undefined => {
  const textOf = (each: Credential, host: Credential['hosts'][number]) =>
    credentialTexts([{ ...each, hosts: [host] }]).join('')
  const isKnown = (host: Credential['hosts'][number]): boolean =>
    b.boundary.credentials.some(
      (other) =>
        other.hosts.some((there) => textOf(other, there) === textOf(credential, host)) &&
        networkBeyond(credential.scope, other.scope) === undefined,
    )
  const host = credential.hosts.find((each) => !isKnown(each))
  return host === undefined ? undefined : { kind: 'credential', id: credential.id, host: renderDestination(host) }
}

const anyVariableBeyond = (a: Effective, b: Effective): Witness | undefined => {
  if (!a.anyVariable || b.anyVariable) return undefined
  const names = b.boundary.environment.map(({ name }) => name)
  let name = 'SECRET'
  while (names.includes(name)) name += '_X'
  return { kind: 'environment', entry: { name, value: { kind: 'pass' } } }
}

const SOME_PROGRAMS = ['/usr/bin/env', '/usr/bin/sh', '/usr/bin/true'].map((text) => parseAbsolutePath(text))

/** With `exec: all`, readable programs can start. The last name is longer than all listed ones, so it is not listed. */
const programsOf = ({ reading }: Effective, listed: readonly string[]): readonly string[] => [
  ...SOME_PROGRAMS.filter((program) => isReadable(reading, program)),
  `/usr/bin/${'x'.repeat(1 + Math.max(0, ...listed.map(({ length }) => length)))}`,
]

const execBeyond = (a: Effective, b: Effective): Witness | undefined => {
  const [ofA, ofB] = [a.boundary.exec, b.boundary.exec]
  if (ofA.kind === 'none' || ofB.kind === 'all') return undefined
  const listed = ofB.kind === 'list' ? ofB.programs : []
  const programs = ofA.kind === 'list' ? ofA.programs : programsOf(a, listed)
  const program = programs.find((name) => !listed.includes(name))
  return program === undefined ? undefined : { kind: 'exec', program }
}
