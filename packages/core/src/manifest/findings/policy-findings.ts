// Findings about the grants of one tool, or of the cell of one MCP server.
import { getOrAdd } from '../../policy/index.js'
import type { Witness } from '../../policy/index.js'

import type { Holder, PolicyReader } from './compare-policies.js'
import type { Finding, FindingId, Owner } from './finding.js'
import { makeFinding } from './make-finding.js'
import { newlyCan } from './newly-can.js'
import { say } from './sentence.js'
import type { Sentence } from './sentence.js'

export interface Change<Side> {
  readonly before: Side
  readonly after: Side
}

/** `subject`: how a sentence names the owner. */
export const policyFindings = (
  { before, after }: Change<Holder>,
  owner: Owner,
  subject: Sentence,
  policies: PolicyReader,
): readonly Finding[] => {
  const groups = new Map<string, Witness[]>()
  for (const witness of withoutImplied(policies.beyond(after, before)))
    getOrAdd(groups, keyOf(witness), () => []).push(witness)
  if (groups.size === 0) return []
  const sections = { before: sectionsOf(before, policies), after: sectionsOf(after, policies) }
  return [...groups.values()].flatMap((witnesses) => {
    const [first] = witnesses
    if (first === undefined) return []
    const [sentence = [], ...more] = witnesses.map((witness) => say`${subject}${newlyCan(witness)}`)
    return makeFinding(idOf(first), owner, { sentence, more, witnesses, change: changeOf(first, sections) })
  })
}

/** A tool that leaves the sandbox has no limit and no mechanism any more, which need not be said for each. */
const withoutImplied = (witnesses: readonly Witness[]): readonly Witness[] =>
  witnesses.some((witness) => witness.kind === 'confinement' && witness.tool === 'in-process')
    ? witnesses.filter(({ kind }) => kind !== 'limit' && kind !== 'require')
    : witnesses

const idOf = (witness: Witness): FindingId => {
  switch (witness.kind) {
    case 'file':
      return `tool.filesystem.${witness.access}.widened`
    case 'network':
      return 'tool.network.widened'
    case 'environment':
      return 'tool.environment.widened'
    case 'credential':
      return 'tool.credential.widened'
    case 'exec':
      return 'tool.exec.widened'
    case 'limit':
      return 'tool.limit.raised'
    case 'require':
      return 'tool.require.dropped'
    case 'confinement':
      return 'tool.kind.weakened'
    case 'undecided':
      return witness.section === 'network' ? 'tool.network.widened' : `tool.filesystem.${witness.section}.widened`
  }
}

/** Witnesses with the same key are one finding. */
const keyOf = (witness: Witness): string => `${idOf(witness)} ${partOf(witness)}`

/** The part of a section that one can accept alone. */
const partOf = (witness: Witness): string => {
  switch (witness.kind) {
    case 'environment':
      return witness.entry.name
    case 'credential':
      return witness.id
    case 'exec':
      return witness.program
    case 'limit':
      return witness.limit
    case 'require':
      return witness.mechanism
    case 'file':
    case 'network':
    case 'confinement':
    case 'undecided':
      return ''
  }
}

type Sections = Readonly<Record<string, unknown>>

const sectionsOf = ({ kind, policy }: Holder, policies: PolicyReader): Sections => ({
  ...(JSON.parse(policies.read(policy).text) as Sections),
  kind,
})

/** Listed programs can be read, and `exec: all` means every file that can be read. */
const FILES = ['kind', 'read', 'write', 'exec', 'presets']
const REQUESTS = ['kind', 'network', 'egress_class', 'credentials']

/** What the fingerprint covers: both sides of every section that decides what the finding is about. */
const changeOf = (witness: Witness, { before, after }: Change<Sections>): unknown => {
  const both = (names: readonly string[]) =>
    [before, after].map((sections) => names.map((name) => sections[name] ?? null))
  switch (witness.kind) {
    case 'file':
      return both(FILES)
    case 'network':
      return both(REQUESTS)
    case 'credential':
      return [witness.id, both(REQUESTS)]
    case 'exec':
      return Array.isArray(after['exec']) ? [witness.program] : both(FILES)
    case 'environment':
      // Without a stance, an in-process tool gets every variable.
      return after['environment'] === 'unspecified' ? both(['kind', 'environment']) : witness.entry
    case 'limit':
      return [witness.limit, witness.value, witness.bound]
    case 'require':
      return [witness.mechanism]
    case 'confinement':
      return [witness.bound, witness.tool]
    case 'undecided':
      return both(witness.section === 'network' ? REQUESTS : FILES)
  }
}
