// Combines policies and the command line. Grants add up, equal entries are one, and the strictest limit counts. The
// command line wins where only one value is possible. A conflict is an error that names both places.
import { fail } from '../errors/index.js'
import { hostText, refuseConflicts, refuseNetwork } from '../policy/index.js'
import type {
  Credential,
  EnvironmentEntry,
  HostGrant,
  Limits,
  PathGlob,
  PlacedPolicy,
  ProgramGrant,
  Section,
  ToolPolicy,
} from '../policy/index.js'

type SectionOrAll<Item> = Section<Item> | { readonly kind: 'all' }

export const combinePolicies = (files: readonly PlacedPolicy[], typed: ToolPolicy): ToolPolicy => {
  const policies = files.map(({ policy }) => policy)
  const everything = [...policies, typed]
  const sectionsOf = <Item>(pick: (policy: ToolPolicy) => Section<Item>) => everything.map(pick)
  refuseConflicts(files)
  for (const file of files) refuseNetwork(file, { source: COMMAND_LINE, policy: typed, whereIs: () => COMMAND_LINE })
  refuseLostDenials(files, typed)
  const environment = combineEnvironment(policies, typed)
  const credentials = policies.flatMap((policy) => policy.credentials)
  refuseGivenStandIns(files, typed)
  return {
    risk: { kind: 'unspecified' },
    filesystem: {
      read: addUp(
        sectionsOf(({ filesystem }) => filesystem.read),
        globText,
      ),
      write: addUp(
        sectionsOf(({ filesystem }) => filesystem.write),
        globText,
      ),
    },
    network: lastWord<HostGrant>(
      policies.map(({ network }) => network),
      typed.network,
      hostText,
    ),
    egressClass: combineEgressClasses(policies, typed),
    environment,
    credentials: typed.network.kind === 'none' ? [] : distinctCredentials(credentials),
    exec: lastWord<ProgramGrant>(
      policies.map(({ exec }) => exec),
      typed.exec,
      (program) => (program.kind === 'name' ? program.name : program.glob.text),
    ),
    limits: combineLimits(policies, typed),
    presets: [...new Set(everything.flatMap(({ presets }) => presets))],
    require: [...new Set(everything.flatMap((policy) => policy.require))],
  }
}

const COMMAND_LINE = 'the command line'

const globText = ({ text }: PathGlob): string => text

type TextOf<Item> = (item: Item) => string

const addUp = <Item>(sections: readonly Section<Item>[], textOf: TextOf<Item>): Section<Item> => {
  const items = sections.flatMap((section) => (section.kind === 'list' ? section.items : []))
  if (items.length > 0) return { kind: 'list', items: distinct(items, textOf) }
  return sections.some(({ kind }) => kind === 'none') ? { kind: 'none' } : { kind: 'unspecified' }
}

const distinct = <Item>(items: readonly Item[], textOf: TextOf<Item>): readonly Item[] =>
  items.filter((item, at) => items.findIndex((other) => textOf(other) === textOf(item)) === at)

const lastWord = <Item>(
  given: readonly SectionOrAll<Item>[],
  typed: SectionOrAll<Item>,
  textOf: TextOf<Item>,
): SectionOrAll<Item> => {
  if (typed.kind === 'none' || typed.kind === 'all') return typed
  if (given.some(({ kind }) => kind === 'all')) return { kind: 'all' }
  return addUp(
    [...given, typed].filter((section): section is Section<Item> => section.kind !== 'all'),
    textOf,
  )
}

/** Entries of a list carry their own class. Only "all" needs one for the policy. */
const combineEgressClasses = (policies: readonly ToolPolicy[], typed: ToolPolicy): ToolPolicy['egressClass'] => {
  const opening = policies.filter(({ network }) => network.kind === 'all')
  const readsOnly = ({ egressClass }: ToolPolicy) =>
    egressClass.kind === 'declared' && egressClass.level === 'read_only'
  if (
    typed.network.kind === 'all' ||
    typed.network.kind === 'none' ||
    opening.length === 0 ||
    !opening.every(readsOnly)
  )
    return { kind: 'unspecified' }
  return { kind: 'declared', level: 'read_only' }
}

/** "All" would remove the denials of other lists, and bypass the proxy, which credentials need. */
const refuseLostDenials = (files: readonly PlacedPolicy[], typed: ToolPolicy): void => {
  const opening =
    typed.network.kind === 'all'
      ? COMMAND_LINE
      : files.find(({ policy }) => policy.network.kind === 'all')?.whereIs('network')
  if (opening === undefined || typed.network.kind === 'none') return
  for (const { policy, whereIs } of files) {
    const denial =
      policy.network.kind === 'list' ? policy.network.items.find(({ action }) => action === 'deny') : undefined
    if (denial !== undefined)
      throw fail('policy-conflict', {
        source: whereIs('network', hostText(denial)),
        where: 'network',
        conflict: `it denies hosts, and ${opening} grants the whole network`,
        fix: 'list the needed hosts instead of all (--net HOST)',
      })
    const [credential] = policy.credentials
    if (credential !== undefined)
      throw fail('policy-conflict', {
        source: whereIs('credentials', credential.id),
        where: 'credentials',
        conflict: `the credential "${credential.id}" needs the proxy, which is not used if ${opening} grants the whole network`,
        fix: 'list the other needed hosts instead of all (--net HOST)',
      })
  }
}

/** Conflicts between files are refused earlier. */
const combineEnvironment = (policies: readonly ToolPolicy[], typed: ToolPolicy): Section<EnvironmentEntry> => {
  const entries = new Map(
    [...policies, typed]
      .flatMap(({ environment }) => (environment.kind === 'list' ? environment.items : []))
      .map((entry) => [entry.name, entry]),
  )
  return entries.size === 0
    ? addUp([...policies.map(({ environment }) => environment), typed.environment], ({ name }) => name)
    : { kind: 'list', items: [...entries.values()] }
}

/** `--env TOKEN` would give the command the value for which a policy has a stand-in of that name. */
const refuseGivenStandIns = (files: readonly PlacedPolicy[], typed: ToolPolicy): void => {
  const names = typed.environment.kind === 'list' ? typed.environment.items.map(({ name }) => name) : []
  for (const { policy, whereIs } of files) {
    const given = policy.credentials.find(
      ({ placeholder }) => placeholder !== undefined && names.includes(placeholder.name),
    )
    if (given !== undefined)
      throw fail('usage-error', {
        problem:
          `--env ${given.placeholder?.name ?? ''} would replace the stand-in for the credential ` +
          `"${given.id}" (${whereIs('credentials', given.id)})`,
        fix: 'leave the option out: the command gets a stand-in, and the proxy adds the value',
      })
  }
}

/** Credentials of two policies stay apart: each applies to the requests of its own policy. */
const distinctCredentials = (credentials: readonly Credential[]): readonly Credential[] =>
  distinct(credentials, (credential) =>
    JSON.stringify(credential, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  )

const combineLimits = (policies: readonly ToolPolicy[], typed: ToolPolicy): Limits => {
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const policy of policies) {
    for (const [name, value] of Object.entries(policy.limits) as [keyof Limits, number][])
      limits[name] = Math.min(limits[name] ?? value, value)
  }
  return { ...limits, ...typed.limits }
}
