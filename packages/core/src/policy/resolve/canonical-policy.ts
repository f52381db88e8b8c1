// One text per meaning of a policy, and its hash, which permits have. Two policies with the same hash grant the same.
import { createHash } from 'node:crypto'
import type { Credential } from '../credential.js'
import { renderSegment } from '../glob/glob-segments.js'
import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { All, EnvironmentEntry, ProgramGrant, Section, ToolPolicy } from '../model.js'
import type { GlobAlternative, PathGlob } from '../glob/path-glob.js'

/** Changed whenever the same policy would get another text, so that old and new hashes differ. */
const POLICY_FORM = 'cordon-policy/1'

/** `sha256:` and 64 hexadecimal digits. */
export const policyHash = (policy: ToolPolicy): string =>
  `sha256:${createHash('sha256').update(canonicalPolicy(policy)).digest('hex')}`

/** JSON without spaces, with keys and lists in a fixed order. A declared and an omitted section differ. */
export const canonicalPolicy = (policy: ToolPolicy): string =>
  JSON.stringify({
    form: POLICY_FORM,
    risk: levelOf(policy.risk),
    read: sectionOf(policy.filesystem.read, globTexts),
    write: sectionOf(policy.filesystem.write, globTexts),
    network: sectionOf(policy.network, (grant) => [hostText(grant)]),
    egress_class: levelOf(policy.egressClass),
    environment: sectionOf(policy.environment, (entry) => [variableText(entry)]),
    // Omitted if empty, so that hashes of older policies stay the same.
    ...(policy.credentials.length === 0 ? {} : { credentials: sorted(policy.credentials.flatMap(scopedTexts)) }),
    exec: sectionOf(policy.exec, (program) => [programText(program)]),
    limits: Object.entries(policy.limits).sort(byKey),
    presets: sorted(policy.presets),
    require: sorted(policy.require),
  })

/** A credential and its scope. */
const scopedTexts = (credential: Credential): readonly string[] => {
  const { network, egressClass } = credential.scope
  const requests = network.kind === 'hosts' ? sorted(network.entries.map(hostText)) : network.kind
  return credentialTexts([credential]).map((text) => JSON.stringify([text, requests, egressClass.level]))
}

const levelOf = (stated: ToolPolicy['risk'] | ToolPolicy['egressClass']): string =>
  stated.kind === 'declared' ? stated.level : stated.kind

const sectionOf = <Item>(
  section: Section<Item> | All,
  textsOf: (item: Item) => readonly string[],
): string | readonly string[] => (section.kind === 'list' ? sorted(section.items.flatMap(textsOf)) : section.kind)

/** By code unit, which no locale changes; each text once. */
const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

/** `{a,b}` gives the same texts as its two patterns. */
export const globTexts = ({ negated, alternatives }: PathGlob): readonly string[] =>
  alternatives.map((alternative) => `${negated ? '!' : ''}${alternativeText(alternative)}`)

const STARTS = { root: '', home: '~', workspace: '.' } as const

const alternativeText = ({ anchor, levelsUp, segments }: GlobAlternative): string =>
  [STARTS[anchor], ...Array<string>(levelsUp).fill('..'), ...segments.map(renderSegment)].join('/')

export const hostText = (grant: HostGrant): string => {
  const methods = grant.methods.kind === 'all' ? 'all' : sorted(grant.methods.items)
  const paths = grant.paths.kind === 'all' ? 'all' : sorted(grant.paths.items.flatMap(globTexts))
  return JSON.stringify([renderDestination(grant), grant.action, methods, paths])
}

/** A name has no "=", so the two forms cannot be confused. */
export const variableText = ({ name, value }: EnvironmentEntry): string =>
  value.kind === 'pass' ? name : `${name}=${value.text}`

/** A path has a slash, a bare name has none. */
export const programText = (program: ProgramGrant): string =>
  program.kind === 'name' ? program.name : globTexts(program.glob).join()

/** One text per credential and host, so that two credentials can be compared host by host. */
const credentialTexts = (credentials: readonly Credential[]): readonly string[] =>
  credentials.flatMap(({ id, hosts, inject, placeholder }) =>
    hosts.map((host) =>
      JSON.stringify([
        id,
        renderDestination(host),
        Object.entries(inject).sort(byKey),
        placeholder === undefined ? null : [placeholder.name, placeholder.text],
      ]),
    ),
  )

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1)

/** Equal for two declarations of one credential that mean the same, in any order. */
export const canonicalCredentials = (credentials: readonly Credential[]): string =>
  [...new Set(credentialTexts(credentials))].sort().join('\n')
