import { createHash } from 'node:crypto'

import { readDocument, renderPolicy } from '../policy/index.js'
import type { ToolPolicy } from '../policy/index.js'

/** A policy as a value of a manifest: as its file would say it, in a fixed order, without the values of variables. */
export const policyValue = (policy: ToolPolicy): Readonly<Record<string, unknown>> => {
  const lines = renderPolicy({ ...policy, environment: hashed(policy.environment) }).map(({ text }) => text)
  const { value } = readDocument(lines.length === 0 ? '{}' : lines.join('\n'), 'policy')
  const risk = policy.risk.kind === 'declared' ? { risk: policy.risk.level } : {}
  return { ...risk, ...(sorted(value) as Readonly<Record<string, unknown>>) }
}

/** Equal values stay equal, and a manifest shows none of them. */
const hashed = (environment: ToolPolicy['environment']): ToolPolicy['environment'] =>
  environment.kind !== 'list'
    ? environment
    : {
        kind: 'list',
        items: environment.items.map(({ name, value }) =>
          value.kind === 'pass'
            ? { name, value }
            : { name, value: { kind: 'set', text: `sha256:${createHash('sha256').update(value.text).digest('hex')}` } },
        ),
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
