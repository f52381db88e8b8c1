import { variableText } from '../resolve/canonical-policy.js'
import type { EnvironmentEntry } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { conflict, invalid, textOf } from './policy-node.js'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const FORM = 'NAME or NAME=value'

export const parseEnvironmentEntries = (items: readonly PolicyNode[]): readonly EnvironmentEntry[] => {
  const entries = new Map<string, EnvironmentEntry>()
  for (const item of items) {
    const entry = parseEntry(item)
    const before = entries.get(entry.name)
    if (before !== undefined && variableText(before) !== variableText(entry)) {
      // The value may be a secret, so the error does not repeat it.
      const how = before.value.kind === 'pass' ? 'from your environment' : 'with a value'
      throw conflict(
        item,
        `${entry.name} is already given ${how}, which is not the same`,
        `keep one of the entries for ${entry.name}`,
      )
    }
    entries.set(entry.name, entry)
  }
  return [...entries.values()]
}

const parseEntry = (item: PolicyNode): EnvironmentEntry => {
  const text = textOf(item, FORM)
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  // A wildcard in a name could pass on secrets of the host.
  if (!NAME.test(name)) throw invalid(item, `${FORM}, with a name of letters, digits and underscores`)
  if (text.includes('\0')) throw invalid(item, `${FORM} without NUL bytes`)
  return { name, value: equals === -1 ? { kind: 'pass' } : { kind: 'set', text: text.slice(equals + 1) } }
}
