import { readDocument, renderPolicy } from '../policy/index.js'
import type { ToolPolicy } from '../policy/index.js'

import { keyedHash } from './keyed-hash.js'
import type { ManifestKey } from './keyed-hash.js'

/** A policy as a value of a manifest: as its file would say it, in a fixed order, without the values of variables. */
export const policyValue = (policy: ToolPolicy, key: ManifestKey): Readonly<Record<string, unknown>> => {
  const lines = renderPolicy(withoutValues(policy, key)).map(({ text }) => text)
  const { value } = readDocument(lines.length === 0 ? '{}' : lines.join('\n'), 'policy')
  const risk = policy.risk.kind === 'declared' ? { risk: policy.risk.level } : {}
  return { ...risk, ...(sorted(value) as Readonly<Record<string, unknown>>) }
}

/** Equal values of a variable stay equal, and a manifest shows none of them. */
const withoutValues = (policy: ToolPolicy, key: ManifestKey): ToolPolicy => {
  const { environment } = policy
  if (environment.kind !== 'list') return policy
  const items = environment.items.map(({ name, value }) =>
    value.kind === 'pass'
      ? { name, value }
      : { name, value: { kind: 'set', text: keyedHash(key, `variable ${name}`, value.text) } as const },
  )
  return { ...policy, environment: { kind: 'list', items } }
}

/** The order of entries means nothing in a policy. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const byText = new Map(value.map((each) => [JSON.stringify(sorted(each)), sorted(each)]))
    return [...byText.keys()].sort().map((key) => byText.get(key))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sorted(each)]))
}
