import { fail } from '../../errors/index.js'
import {
  bindGlob,
  invalid,
  itemsOf,
  mappingOf,
  parseDestination,
  parsePathGlob,
  placeOf,
  sourceOf,
  textOf,
} from '../../policy/index.js'
import type { Places, PolicyNode } from '../../policy/index.js'

import { parseCommandPattern } from '../commands/command-pattern.js'
import type { CommandPattern } from '../commands/command-pattern.js'
import { foldPattern } from '../arguments/folded-path.js'
import type { ArgumentCondition, HostCondition, PathCondition } from './rule.js'
import { parseTextPattern } from '../commands/text-pattern.js'
import type { TextPattern } from '../commands/text-pattern.js'

export const parseTools = (node: PolicyNode): readonly TextPattern[] =>
  oneOrMore(node, 'a tool name or a list of them').map((item) => parseTextPattern(nonEmpty(item, 'a tool name')))

export const parseHosts = (node: PolicyNode): readonly HostCondition[] =>
  oneOrMore(node, 'a host or a list of hosts').map(parseHost)

export const parseCommands = (node: PolicyNode): readonly CommandPattern[] =>
  oneOrMore(node, 'a command pattern or a list of them').map(parseCommand)

export const nonEmpty = (node: PolicyNode, expected: string): string => {
  const text = textOf(node, expected)
  if (text.trim() === '') throw invalid(node, `${expected} that is not empty`)
  return text
}

const oneOrMore = (node: PolicyNode, expected: string): readonly PolicyNode[] => {
  if (typeof node.value === 'string') return [node]
  const items = itemsOf(node, expected)
  // An empty list would read as "none" to one person and as "all" to another.
  if (items.length === 0) throw invalid(node, `${expected} with at least one item`)
  return items
}

export const parsePaths = (node: PolicyNode, places: Places): readonly PathCondition[] => {
  if (typeof node.value === 'string' || Array.isArray(node.value)) return [parsePathCondition(node, 'any', places)]
  const { read, write } = mappingOf(node, ['read', 'write'])
  const conditions = [
    ...(read === undefined ? [] : [parsePathCondition(read, 'read', places)]),
    ...(write === undefined ? [] : [parsePathCondition(write, 'write', places)]),
  ]
  if (conditions.length === 0) throw invalid(node, 'a list of paths, or a mapping with "read" or "write"')
  return conditions
}

const parsePathCondition = (node: PolicyNode, access: PathCondition['access'], places: Places): PathCondition => {
  const patterns = oneOrMore(node, 'a path pattern or a list of them').flatMap((item) =>
    bindGlob(parsePathGlob(textOf(item, 'a path pattern'), placeOf(item)), places),
  )
  if (patterns.every(({ negated }) => negated))
    throw invalid(node, 'at least one pattern without "!"; carve-outs alone match nothing')
  return { access, patterns, folded: patterns.map(foldPattern) }
}

const parseHost = (node: PolicyNode): HostCondition => {
  const text = textOf(node, 'a host')
  if (text === '*') return { text, destination: undefined, port: { kind: 'unspecified' } }
  const { destination, port } = parseDestination(text, placeOf(node))
  return { text, destination, port: port.kind === 'web' ? { kind: 'unspecified' } : port }
}

const parseCommand = (node: PolicyNode): CommandPattern => {
  const parsed = parseCommandPattern(textOf(node, 'a command pattern'))
  if (parsed.kind === 'problem')
    throw fail('policy-invalid-value', {
      source: sourceOf(node),
      where: 'command',
      expected: `a command pattern (${parsed.problem})`,
      found: JSON.stringify(node.value),
      hint: '',
    })
  return parsed.pattern
}

export const parseArguments = (node: PolicyNode): readonly ArgumentCondition[] => {
  if (typeof node.value !== 'object' || node.value === null || Array.isArray(node.value))
    throw invalid(node, 'a mapping of argument names to values')
  return Object.entries(node.value as Record<string, unknown>).map(([key, value]) => {
    const child: PolicyNode = { ...node, value, path: [...node.path, key] }
    const items = Array.isArray(value) ? itemsOf(child, 'values') : [child]
    if (items.length === 0) throw invalid(child, 'a value, or a list of values with at least one item')
    return { keys: key.split('.'), accepts: items.map(parseAccepted) }
  })
}

const parseAccepted = (node: PolicyNode): ArgumentCondition['accepts'][number] => {
  const { value } = node
  if (typeof value === 'string') return parseTextPattern(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return { exactly: value }
  throw invalid(node, 'a text with * and ?, a number, true, false or null')
}
