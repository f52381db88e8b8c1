// Policies of tools, by patterns of their names.
import { parseTextPattern } from '../../gate/index.js'
import type { TextPattern } from '../../gate/index.js'
import { namedNodesOf, parsePolicyNode, placeOf } from '../../policy/index.js'
import type { PlacedPolicy, PolicyNode, ToolPolicy } from '../../policy/index.js'

import { readGivenDocument } from '../text/given-document.js'

/** `server`: the policy of the cell. */
export interface ToolEntry {
  /** Of names, as in rules. */
  readonly pattern: TextPattern
  readonly policy: ToolPolicy | 'server'
  readonly source: string
}

const FIX = 'write it like: read_*: { filesystem: { read: [.] } }'

/** `--tools FILE`. */
export const readToolFile = (file: string | undefined): readonly ToolEntry[] =>
  file === undefined ? [] : toolEntries(readGivenDocument(file, FIX).node)

export const toolEntries = (node: PolicyNode): readonly ToolEntry[] =>
  namedNodesOf(node).map(([pattern, entry]) => ({
    pattern: parseTextPattern(pattern),
    source: placeOf(entry),
    policy: entry.value === 'server' ? entry.value : parsePolicyNode(entry),
  }))

/** The first entry counts. */
export const policyNamed = (name: string, entries: readonly ToolEntry[]): ToolEntry['policy'] | undefined =>
  entries.find(({ pattern }) => pattern.matches(name))?.policy

/** The policies of tools whose names begin like this. The cell of their server grants all of them. */
export const policiesWithin = (start: string, entries: readonly ToolEntry[]): readonly PlacedPolicy[] =>
  entries.flatMap(({ pattern, policy, source }) =>
    policy !== 'server' && couldMatch(pattern, start)
      ? [{ source, policy: withoutLimits(policy), whereIs: () => source }]
      : [],
  )

/** Limits hold for one call of the tool, and not for the life of its server. */
const withoutLimits = (policy: ToolPolicy): ToolPolicy => ({ ...policy, limits: {} })

const couldMatch = ({ runs: [literal = ''], isLiteral }: TextPattern, start: string): boolean =>
  literal.startsWith(start) || (!isLiteral && start.startsWith(literal))
