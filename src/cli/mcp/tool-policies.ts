// Policies of tools, by patterns of their names (`--tools FILE`).
import { parsePolicy } from '../../policy/index.js'
import type { PlacedPolicy, ToolPolicy } from '../../policy/index.js'
import { fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import { readGivenDocument } from '../text/given-document.js'

export interface ToolPolicies {
  /** Those that tools with names like this may have. The cell of their server grants all of them. */
  readonly forNames: (start: string) => readonly PlacedPolicy[]
  /** `server`: the policy of the cell. Undefined: nobody wrote one. */
  readonly policyOf: (name: string) => ToolPolicy | 'server' | undefined
}

interface Entry {
  readonly pattern: string
  readonly policy: ToolPolicy | 'server'
  readonly source: string
}

export const readToolPolicies = (file: string | undefined): ToolPolicies => {
  const entries = file === undefined ? [] : readEntries(file)
  return {
    forNames: (start) =>
      entries.flatMap(({ pattern, policy, source }) =>
        policy !== 'server' && couldMatch(pattern, start)
          ? [{ source, policy: withoutLimits(policy), whereIs: () => source }]
          : [],
      ),
    policyOf: (name) => entries.find(({ pattern }) => matches(pattern, name))?.policy,
  }
}

const FIX = 'write it like: read_*: { filesystem: { read: [.] } }'

const readEntries = (file: string): readonly Entry[] => {
  const { name, node } = readGivenDocument(file, FIX)
  if (!isMapping(node.value)) throw fail('usage-error', { problem: `${name} maps no tools to policies`, fix: FIX })
  return Object.entries(node.value).map(([pattern, value]) => {
    const source = `${name}: ${pattern}`
    return { pattern, source, policy: value === 'server' ? value : parsePolicy(value, source) }
  })
}

/** Limits hold for one call of the tool, and not for the life of its server. */
const withoutLimits = (policy: ToolPolicy): ToolPolicy => ({ ...policy, limits: {} })

const couldMatch = (pattern: string, start: string): boolean => {
  const literal = pattern.split('*', 1)[0] ?? ''
  return literal.startsWith(start) || (pattern.includes('*') && start.startsWith(literal))
}

/** `*` stands for any text. Each part is looked for once, from the left. */
const matches = (pattern: string, name: string): boolean => {
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
