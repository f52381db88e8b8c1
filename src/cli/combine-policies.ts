// What several policies and the command line grant together. Files add up, and the strictest limit
// of them counts; the words of the person at the command line come last, and win where only one
// value can hold.
import { fail } from '../errors/index.js'
import type { EnvironmentEntry, HostGrant, Limits, ProgramGrant, Section, ToolPolicy } from '../policy/index.js'

export interface SourcedPolicy {
  readonly source: string
  readonly policy: ToolPolicy
}

type SectionOrAll<Item> = Section<Item> | { readonly kind: 'all' }

export const combinePolicies = (files: readonly SourcedPolicy[], typed: ToolPolicy): ToolPolicy => {
  const policies = files.map(({ policy }) => policy)
  const everything = [...policies, typed]
  refuseLostDenials(files, typed)
  return {
    risk: { kind: 'unspecified' },
    filesystem: {
      read: addUp(everything.map(({ filesystem }) => filesystem.read)),
      write: addUp(everything.map(({ filesystem }) => filesystem.write)),
    },
    network: lastWord<HostGrant>(policies.map(({ network }) => network), typed.network),
    egressClass: combineEgressClasses(policies, typed),
    environment: combineEnvironment(files, typed),
    credentials: everything.flatMap(({ credentials }) => credentials),
    exec: lastWord<ProgramGrant>(policies.map(({ exec }) => exec), typed.exec),
    limits: combineLimits(policies, typed),
    presets: [...new Set(everything.flatMap(({ presets }) => presets))],
    require: [...new Set(everything.flatMap((policy) => policy.require))],
  }
}

const addUp = <Item>(sections: readonly Section<Item>[]): Section<Item> => {
  const items = sections.flatMap((section) => (section.kind === 'list' ? section.items : []))
  if (items.length > 0) return { kind: 'list', items }
  return sections.some(({ kind }) => kind === 'none') ? { kind: 'none' } : { kind: 'unspecified' }
}

const lastWord = <Item>(given: readonly SectionOrAll<Item>[], typed: SectionOrAll<Item>): SectionOrAll<Item> => {
  if (typed.kind === 'none' || typed.kind === 'all') return typed
  if (given.some(({ kind }) => kind === 'all')) return { kind: 'all' }
  return addUp([...given, typed].filter((section): section is Section<Item> => section.kind !== 'all'))
}

/** Entries of a list carry what their class allows; only "all" depends on a class of the whole. */
const combineEgressClasses = (policies: readonly ToolPolicy[], typed: ToolPolicy): ToolPolicy['egressClass'] => {
  const opening = policies.filter(({ network }) => network.kind === 'all')
  const readsOnly = ({ egressClass }: ToolPolicy) => egressClass.kind === 'declared' && egressClass.level === 'read_only'
  if (typed.network.kind === 'all' || typed.network.kind === 'none' || opening.length === 0 || !opening.every(readsOnly)) return { kind: 'unspecified' }
  return { kind: 'declared', level: 'read_only' }
}

/** "All" beside a list would make the denials of that list vanish. */
const refuseLostDenials = (files: readonly SourcedPolicy[], typed: ToolPolicy): void => {
  const denying = files.find(({ policy: { network } }) => network.kind === 'list' && network.items.some(({ action }) => action === 'deny'))
  const opening = typed.network.kind === 'all' ? 'the command line' : files.find(({ policy }) => policy.network.kind === 'all')?.source
  if (denying === undefined || opening === undefined || typed.network.kind === 'none') return
  throw fail('policy-conflict', { source: denying.source, where: 'network', conflict: `it denies hosts, and ${opening} grants the whole network` })
}

const combineEnvironment = (files: readonly SourcedPolicy[], typed: ToolPolicy): Section<EnvironmentEntry> => {
  const entries = new Map<string, EnvironmentEntry & { readonly source: string }>()
  for (const { source, policy } of files) {
    for (const entry of policy.environment.kind === 'list' ? policy.environment.items : []) {
      const before = entries.get(entry.name)
      if (before !== undefined && JSON.stringify(before.value) !== JSON.stringify(entry.value)) {
        throw fail('policy-conflict', { source, where: 'environment', conflict: `${entry.name} is given otherwise in ${before.source}` })
      }
      entries.set(entry.name, { ...entry, source })
    }
  }
  for (const entry of typed.environment.kind === 'list' ? typed.environment.items : []) entries.set(entry.name, { ...entry, source: 'the command line' })
  const items = [...entries.values()].map(({ name, value }) => ({ name, value }))
  return items.length === 0 ? addUp([...files.map(({ policy }) => policy.environment), typed.environment]) : { kind: 'list', items }
}

const combineLimits = (policies: readonly ToolPolicy[], typed: ToolPolicy): Limits => {
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const policy of policies) {
    for (const [name, value] of Object.entries(policy.limits) as [keyof Limits, number][]) limits[name] = Math.min(limits[name] ?? value, value)
  }
  return { ...limits, ...typed.limits }
}
