// One text per meaning, and its hash. Permits refer to a policy by it: two policies
// with the same hash grant the same, whoever wrote them in whatever order.
import { createHash } from 'node:crypto'

import { credentialTexts } from './canonical-credential.js'
import type { Credential } from '../credential.js'
import { renderSegment } from '../glob/glob-segments.js'
import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { EnvironmentEntry, ProgramGrant, ToolPolicy } from '../model.js'
import type { GlobAlternative, PathGlob } from '../glob/path-glob.js'

/** Raised whenever the same policy would get another text, so that old hashes are not taken for new ones. */
export const POLICY_FORM = 'cordon-policy/1'

/** `sha256:` and 64 hexadecimal digits. */
export const policyHash = (policy: ToolPolicy): string =>
  `sha256:${createHash('sha256').update(canonicalPolicy(policy)).digest('hex')}`

/** JSON without spaces, keys and lists in a fixed order. Whether something was declared or left open is part of it. */
export const canonicalPolicy = (policy: ToolPolicy): string =>
  JSON.stringify({
    form: POLICY_FORM,
    risk: levelOf(policy.risk),
    read: sectionOf(policy.filesystem.read, globTexts),
    write: sectionOf(policy.filesystem.write, globTexts),
    network: sectionOf(policy.network, (grant) => [hostText(grant)]),
    egress_class: levelOf(policy.egressClass),
    environment: sectionOf(policy.environment, (entry) => [variableText(entry)]),
    // Left out where there are none, so that hashes from before there were any stay what they are.
    ...(policy.credentials.length === 0 ? {} : { credentials: sorted(policy.credentials.flatMap(scopedTexts)) }),
    exec: sectionOf(policy.exec, (program) => [programText(program)]),
    limits: Object.entries(policy.limits).sort(byText),
    presets: sorted(policy.presets),
    require: sorted(policy.require),
  })

/** What a credential is, and the requests that it is for. */
const scopedTexts = (credential: Credential): readonly string[] => {
  const { network, egressClass } = credential.scope
  const requests = network.kind === 'hosts' ? sorted(network.entries.map(hostText)) : network.kind
  return credentialTexts([credential]).map((text) => JSON.stringify([text, requests, egressClass.level]))
}

const levelOf = (stated: ToolPolicy['risk'] | ToolPolicy['egressClass']): string =>
  stated.kind === 'declared' ? stated.level : stated.kind

type SectionOf<Item> =
  { readonly kind: 'unspecified' | 'none' | 'all' } | { readonly kind: 'list'; readonly items: readonly Item[] }

const sectionOf = <Item>(
  section: SectionOf<Item>,
  textsOf: (item: Item) => readonly string[],
): string | readonly string[] => (section.kind === 'list' ? sorted(section.items.flatMap(textsOf)) : section.kind)

/** By code unit, which no locale changes; each text once. */
const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

const byText = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

/** `{a,b}` and the two patterns that it stands for are the same. */
const globTexts = ({ negated, alternatives }: PathGlob): readonly string[] =>
  alternatives.map((alternative) => `${negated ? '!' : ''}${alternativeText(alternative)}`)

const STARTS = { root: '', home: '~', workspace: '.' } as const

const alternativeText = ({ anchor, levelsUp, segments }: GlobAlternative): string =>
  [STARTS[anchor], ...Array<string>(levelsUp).fill('..'), ...segments.map(renderSegment)].join('/')

export const hostText = (grant: HostGrant): string => {
  const methods = grant.methods.kind === 'all' ? 'all' : sorted(grant.methods.items)
  const paths = grant.paths.kind === 'all' ? 'all' : sorted(grant.paths.items.flatMap(globTexts))
  return JSON.stringify([renderDestination(grant), grant.action, methods, paths])
}

/** A name has no "=", so that the two forms cannot be confused. */
const variableText = ({ name, value }: EnvironmentEntry): string =>
  value.kind === 'pass' ? name : `${name}=${value.text}`

/** A path has a slash, a bare name has none. */
const programText = (program: ProgramGrant): string =>
  program.kind === 'name' ? program.name : globTexts(program.glob).join()
