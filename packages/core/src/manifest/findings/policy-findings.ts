// Findings about the grants of one tool, or of the cell of one MCP server.
import { LIMIT_FORMS, getOrAdd, renderSize, renderTime } from '../../policy/index.js'
import type { RequestWitness, Witness } from '../../policy/index.js'

import type { HeldPolicy, PolicyReader } from './compare-policies.js'
import type { Finding, FindingId, Owner } from './finding.js'
import { makeFinding } from './finding.js'
import { say, words } from './sentence.js'
import type { Sentence } from './sentence.js'

export interface Change<Side> {
  readonly before: Side
  readonly after: Side
}

/** `subject`: how a sentence names the owner. */
export const policyFindings = (
  { before, after }: Change<HeldPolicy>,
  owner: Owner,
  subject: Sentence,
  policies: PolicyReader,
): readonly Finding[] => {
  const witnesses = withoutImplied(policies.beyond(after, before))
  if (witnesses.length === 0) return []
  const sections = { before: sectionsOf(before, policies), after: sectionsOf(after, policies) }
  const groups = new Map<string, { readonly about: About; readonly witnesses: Witness[] }>()
  for (const witness of witnesses) {
    const about = aboutOf(witness, sections)
    getOrAdd(groups, `${about.id} ${about.part}`, () => ({ about, witnesses: [] as Witness[] })).witnesses.push(witness)
  }
  return Array.from(groups.values(), ({ about: { id, change }, witnesses: same }) => {
    const [sentence = [], ...more] = same.map((witness) => say`${subject}${newlyCan(witness)}`)
    return makeFinding(id, owner, { sentence, more, witnesses: same, change })
  })
}

/** A tool that leaves the sandbox has no limit and no mechanism any more, which need not be said for each. */
const withoutImplied = (witnesses: readonly Witness[]): readonly Witness[] =>
  witnesses.some((witness) => witness.kind === 'confinement' && witness.tool === 'in-process')
    ? witnesses.filter(({ kind }) => kind !== 'limit' && kind !== 'require')
    : witnesses

type Sections = Readonly<Record<string, unknown>>

const sectionsOf = ({ kind, policy }: HeldPolicy, policies: PolicyReader): Sections => ({
  ...(JSON.parse(policies.read(policy).text) as Sections),
  kind,
})

/** What a witness is about. */
interface About {
  readonly id: FindingId
  /** The part of a section that one can accept alone. Witnesses with the same id and part are one finding. */
  readonly part: string
  /** What the fingerprint covers: both sides of every section that decides what the finding is about. */
  readonly change: unknown
}

/** Listed programs can be read, and `exec: all` means every file that can be read. */
const FILES = ['kind', 'read', 'write', 'exec', 'presets']
const REQUESTS = ['kind', 'network', 'egress_class', 'credentials']

const aboutOf = (witness: Witness, { before, after }: Change<Sections>): About => {
  const both = (names: readonly string[]) =>
    [before, after].map((sections) => names.map((name) => sections[name] ?? null))
  switch (witness.kind) {
    case 'file':
      return { id: `tool.filesystem.${witness.access}.widened`, part: '', change: both(FILES) }
    case 'network':
      return { id: 'tool.network.widened', part: '', change: both(REQUESTS) }
    case 'credential':
      return { id: 'tool.credential.widened', part: witness.id, change: [witness.id, both(REQUESTS)] }
    case 'exec': {
      const change = Array.isArray(after['exec']) ? [witness.program] : both(FILES)
      return { id: 'tool.exec.widened', part: witness.program, change }
    }
    case 'environment': {
      // Without a stance, an in-process tool gets every variable.
      const change = after['environment'] === 'unspecified' ? both(['kind', 'environment']) : witness.entry
      return { id: 'tool.environment.widened', part: witness.entry.name, change }
    }
    case 'limit':
      return { id: 'tool.limit.raised', part: witness.limit, change: [witness.limit, witness.value, witness.bound] }
    case 'require':
      return { id: 'tool.require.dropped', part: witness.mechanism, change: [witness.mechanism] }
    case 'confinement':
      return { id: 'tool.kind.weakened', part: '', change: [witness.bound, witness.tool] }
    case 'undecided':
      return witness.section === 'network'
        ? { id: 'tool.network.widened', part: '', change: both(REQUESTS) }
        : { id: `tool.filesystem.${witness.section}.widened`, part: '', change: both(FILES) }
  }
}

/** What a tool can newly do, in words that follow its name. */
export const newlyCan = (witness: Witness): Sentence => {
  switch (witness.kind) {
    case 'file': {
      const { access, path, assuming } = witness
      return say` can now ${words(access)} ${path}${assuming === undefined ? [] : say` if ${assuming}`}`
    }
    case 'network':
      return say` can now ${request(witness.request)}`
    case 'environment':
      return witness.entry.value.kind === 'pass'
        ? say` now gets the variable ${witness.entry.name} of the host`
        : say` now gets the variable ${witness.entry.name} with a set value`
    case 'credential':
      return say` can now ${request(witness.request)} with ${witness.id}`
    case 'exec':
      return say` can now start ${witness.program}`
    case 'limit': {
      const { limit, value, bound } = witness
      const was = say`, was ${words(quantity(limit, bound))}`
      return value === 'unlimited'
        ? say` now has no limit ${words(limit)}${was}`
        : say` now has ${words(quantity(limit, value))} as limit ${words(limit)}${was}`
    }
    case 'require':
      return say` now runs without ${words(witness.mechanism)}`
    case 'confinement':
      return witness.tool === 'in-process'
        ? say` now runs in the agent's own process, where no sandbox confines it`
        : say` now shares one cell with other calls`
    case 'undecided':
      return say` may now do more in ${words(witness.section)}: its patterns are too entangled to decide`
  }
}

const request = ({ host, port, address, use }: RequestWitness): Sentence => {
  const name = host.includes(':') ? `[${host}]` : host
  const at = address === undefined ? [] : say` at the address ${address}`
  switch (use.kind) {
    case 'http': {
      const place = port === 443 ? name : `${name}:${String(port)}`
      if (use.path === 'ambiguous') return say`${use.method} to ${place} with a path that servers read differently${at}`
      return use.path === '/' ? say`${use.method} to ${place}${at}` : say`${use.method} ${use.path} to ${place}${at}`
    }
    case 'stream':
      return say`talk any protocol to ${`${name}:${String(port)}`}${at}`
    case 'direct':
      return say`reach ${`${name}:${String(port)}`} without inspection${at}`
  }
}

const quantity = (limit: Extract<Witness, { readonly kind: 'limit' }>['limit'], value: number): string => {
  switch (LIMIT_FORMS[limit].quantity) {
    case 'size':
      return renderSize(value)
    case 'duration':
      return renderTime(value)
    case 'count':
      return String(value)
  }
}
