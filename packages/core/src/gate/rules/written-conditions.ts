import { renderDestination } from '../../policy/index.js'

import type { JsonValue } from '../input/json-value.js'
import type { ArgumentCondition, HostCondition, PathCondition, Rule } from './rule.js'

/** The conditions of a rule as its file would have them, in a fixed order. `glob`: how a path pattern is written. */
export const conditionsOf = (rule: Rule, glob: (text: string) => string): Readonly<Record<string, JsonValue>> => {
  const written = {
    tool: sorted(rule.tools.map(({ written: text }) => text)),
    arguments: Object.fromEntries(rule.arguments.map(writtenArgument)),
    paths: writtenPaths(rule.paths, glob),
    hosts: sorted(rule.hosts.map(writtenHost)),
    command: sorted(
      rule.commands.map(({ words }) =>
        words.map((word) => (word.kind === 'any-words' ? '**' : word.pattern.written)).join(' '),
      ),
    ),
  }
  return Object.fromEntries(Object.entries(written).filter(([, value]) => Object.keys(value).length > 0))
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

const writtenArgument = ({ keys, accepts }: ArgumentCondition): readonly [string, JsonValue] => [
  keys.join('.'),
  accepts
    .map((accept) => ('exactly' in accept ? accept.exactly : accept.written))
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
]

const writtenPaths = (conditions: readonly PathCondition[], glob: (text: string) => string) => {
  const texts = ({ patterns }: PathCondition) => sorted(patterns.map(({ text }) => glob(text)))
  const [only] = conditions
  if (only?.access === 'any') return texts(only)
  return Object.fromEntries(conditions.map((condition) => [condition.access, texts(condition)]))
}

const writtenHost = ({ destination, port }: HostCondition): string =>
  destination === undefined ? '*' : renderDestination({ destination, port })
