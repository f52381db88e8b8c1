// Policies of tools, by patterns of their names.
import { namedNodesOf, parsePolicyNode, placeOf } from '../../policy/index.js'
import type { PlacedPolicy, PolicyNode, ToolPolicy } from '../../policy/index.js'

import { readGivenDocument } from '../text/given-document.js'

/** `server`: the policy of the cell. */
export interface ToolEntry {
  readonly pattern: string
  readonly policy: ToolPolicy | 'server'
  readonly source: string
}

const FIX = 'write it like: read_*: { filesystem: { read: [.] } }'

/** `--tools FILE`. */
export const readToolFile = (file: string | undefined): readonly ToolEntry[] =>
  file === undefined ? [] : toolEntries(readGivenDocument(file, FIX).node)

export const toolEntries = (node: PolicyNode): readonly ToolEntry[] =>
  namedNodesOf(node).map(([pattern, entry]) => ({
    pattern,
    source: placeOf(entry),
    policy: entry.value === 'server' ? entry.value : parsePolicyNode(entry),
  }))

/** The first entry counts. */
export const policyNamed = (name: string, entries: readonly ToolEntry[]): ToolEntry['policy'] | undefined =>
  entries.find(({ pattern }) => matches(pattern, name))?.policy

/** The policies of tools whose names begin like this. The cell of their server grants all of them. */
export const policiesWithin = (start: string, entries: readonly ToolEntry[]): readonly PlacedPolicy[] =>
  entries.flatMap(({ pattern, policy, source }) =>
    policy !== 'server' && couldMatch(pattern, start)
      ? [{ source, policy: withoutLimits(policy), whereIs: () => source }]
      : [],
  )

/** Limits hold for one call of the tool, and not for the life of its server. */
const withoutLimits = (policy: ToolPolicy): ToolPolicy => ({ ...policy, limits: {} })

const couldMatch = (pattern: string, start: string): boolean => {
  const literal = pattern.split('*', 1)[0] ?? ''
  return literal.startsWith(start) || (pattern.includes('*') && start.startsWith(literal))
}

/** `*` stands for any text. Each part is looked for once, from the left. */
export const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
