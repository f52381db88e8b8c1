// Policies of tools, by patterns of their names.
import { parseTextPattern } from 'cordon/gate'
import type { TextPattern } from 'cordon/gate'
import {
  invalid,
  mappingOf,
  namedNodesOf,
  oneOf,
  parsePolicy,
  parsePolicyNode,
  placeOf,
  required,
  someItemsOf,
} from 'cordon/policy'
import type { PlacedPolicy, PolicyNode, ToolPolicy } from 'cordon/policy'
import { isMapping } from 'cordon/shapes'
import { combinePolicies, readGivenDocument } from 'cordon/commands'

export interface ToolEntry {
  /** A name or a pattern of names, as in rules. */
  readonly name: string
  readonly pattern: TextPattern
  /** `server`: that of the cell. `proposedWithin`: what the server proposes, if it is within this. */
  readonly policy: ToolPolicy | 'server' | { readonly proposedWithin: ToolPolicy | 'server' }
  readonly source: string
}

const FIX = 'write it like: read_*: { filesystem: { read: [.] } }'

/** `--tools FILE`. */
export const readToolFile = (file: string | undefined): readonly ToolEntry[] =>
  file === undefined ? [] : toolEntries(readGivenDocument(file, FIX).node)

export const toolEntries = (node: PolicyNode): readonly ToolEntry[] =>
  namedNodesOf(node).map(([pattern, entry]) => ({
    name: pattern,
    pattern: parseTextPattern(pattern),
    source: placeOf(entry),
    policy: entryPolicy(entry),
  }))

/** `server`, `proposed`, `{ proposed: { within: POLICY } }` or a policy. */
const entryPolicy = (node: PolicyNode): ToolEntry['policy'] => {
  if (node.value === 'server') return node.value
  if (node.value === 'proposed') return { proposedWithin: 'server' }
  if (!isMapping(node.value) || !('proposed' in node.value)) return parsePolicyNode(node)
  const proposed = required(node, mappingOf(node, ['proposed']), 'proposed')
  const bound = required(proposed, mappingOf(proposed, ['within']), 'within', 'or write only: proposed')
  return { proposedWithin: parsePolicyNode(bound) }
}

/** Entries that are for none of these servers. `starts`: what the names of their tools begin with. */
export const entriesForNobody = (starts: readonly string[], entries: readonly ToolEntry[]): readonly ToolEntry[] =>
  entries.filter(({ pattern }) => !starts.some((start) => couldMatch(pattern, start)))

/** The first entry counts. */
export const entryNamed = (name: string, entries: readonly ToolEntry[]): ToolEntry | undefined =>
  entries.find(({ pattern }) => pattern.matches(name))

/** The policies of tools whose names begin like this. */
export const policiesWithin = (start: string, entries: readonly ToolEntry[]): readonly PlacedPolicy[] =>
  entries.flatMap(({ pattern, policy, source }) => {
    const granted = policy !== 'server' && 'proposedWithin' in policy ? policy.proposedWithin : policy
    return granted !== 'server' && couldMatch(pattern, start)
      ? [{ source, policy: granted, whereIs: () => source }]
      : []
  })

const couldMatch = ({ runs: [literal = ''], isLiteral }: TextPattern, start: string): boolean =>
  literal.startsWith(start) || (!isLiteral && start.startsWith(literal))

/** `--timeout` holds where a policy names no time of its own. */
export const withTimeout = (policy: ToolPolicy, timeout: number | undefined): ToolPolicy =>
  timeout === undefined ? policy : { ...policy, limits: { wall: timeout, ...policy.limits } }

/** The tools of these entries share one policy, which grants what theirs grant together. */
export const joined = (entries: readonly ToolEntry[], together: PolicyNode): readonly ToolEntry[] => {
  const items = someItemsOf(together, 'a list of tools')
  const names = items.map((item) =>
    oneOf(
      item,
      entries.map(({ name }) => name),
    ),
  )
  const members = entries.filter(({ name }) => names.includes(name))
  const policies = members.map(({ name, source, policy }) => {
    if (policy === 'server' || 'proposedWithin' in policy)
      throw invalid(items[names.indexOf(name)] ?? together, 'a tool with a policy that is written here')
    return { source, policy, whereIs: () => source }
  })
  const policy = combinePolicies(policies, parsePolicy({}, placeOf(together)))
  return entries.map((entry) => (names.includes(entry.name) ? { ...entry, policy } : entry))
}

/** The risk that a policy declares counts for the cell that was made for it, and so does that it needs an approval. */
export const asDeclared = (cell: ToolPolicy, { risk, egressClass, limits: { wall } }: ToolPolicy): ToolPolicy => ({
  ...cell,
  ...(risk.kind === 'declared' ? { risk } : {}),
  ...(egressClass.kind === 'declared' && egressClass.level === 'write' ? { egressClass } : {}),
  limits: wall === undefined ? cell.limits : { ...cell.limits, wall },
})
