import { fail } from '../../errors/index.js'

import type { EnvironmentEntry } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { invalid, keyOf, sourceOf, textOf } from './policy-node.js'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const FORM = 'NAME or NAME=value'

export const parseEnvironmentEntries = (items: readonly PolicyNode[]): readonly EnvironmentEntry[] => {
  const entries = new Map<string, EnvironmentEntry>()
  for (const item of items) {
    const entry = parseEntry(item)
    const before = entries.get(entry.name)
    if (before !== undefined && render(before) !== render(entry)) {
      throw fail('policy-conflict', {
        source: sourceOf(item),
        where: keyOf(item),
        // What it is given as is not repeated: it may be something that nobody else should read.
        conflict:
          `${entry.name} is already given ` +
          `${before.value.kind === 'pass' ? 'from your environment' : 'with a value'}, which is not the same`,
        fix: `keep one of the entries for ${entry.name}`,
      })
    }
    entries.set(entry.name, entry)
  }
  return [...entries.values()]
}

const parseEntry = (item: PolicyNode): EnvironmentEntry => {
  const text = textOf(item, FORM)
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  // A wildcard would pass on whatever secret the host happens to have under such a name.
  if (!NAME.test(name)) throw invalid(item, `${FORM}, with a name of letters, digits and underscores`)
  if (text.includes('\0')) throw invalid(item, `${FORM} without NUL bytes`)
  return { name, value: equals === -1 ? { kind: 'pass' } : { kind: 'set', text: text.slice(equals + 1) } }
}

const render = ({ name, value }: EnvironmentEntry): string => (value.kind === 'pass' ? name : `${name}=${value.text}`)
