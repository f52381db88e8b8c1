import { fail } from '../../errors/index.js'
import {
  bindGlob,
  invalid,
  mappingOf,
  parseDestination,
  parsePathGlob,
  placeOf,
  someItemsOf,
  sourceOf,
  nodeText,
} from '../../policy/index.js'
import type { Places, PolicyNode } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

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
  const text = nodeText(node, expected)
  if (text.trim() === '') throw invalid(node, `${expected} that is not empty`)
  return text
}

const oneOrMore = (node: PolicyNode, expected: string): readonly PolicyNode[] =>
  typeof node.value === 'string' ? [node] : someItemsOf(node, expected)

export const parsePaths = (node: PolicyNode, places: Places): readonly PathCondition[] => {
  if (typeof node.value === 'string' || Array.isArray(node.value)) return [parsePathCondition(node, 'any', places)]
  const { read, write } = mappingOf(node, ['read', 'write'])
  const conditions = [
    read && parsePathCondition(read, 'read', places),
    write && parsePathCondition(write, 'write', places),
  ].filter((condition) => condition !== undefined)
  if (conditions.length === 0) throw invalid(node, 'a list of paths, or a mapping with "read" or "write"')
  return conditions
}

const parsePathCondition = (node: PolicyNode, access: PathCondition['access'], places: Places): PathCondition => {
  const patterns = oneOrMore(node, 'a path pattern or a list of them').flatMap((item) =>
    bindGlob(parsePathGlob(nodeText(item, 'a path pattern'), placeOf(item)), places),
  )
  if (patterns.every(({ negated }) => negated))
    throw invalid(node, 'at least one pattern without "!"; carve-outs alone match nothing')
  return { access, patterns, folded: patterns.map(foldPattern) }
}

const parseHost = (node: PolicyNode): HostCondition => {
  const text = nodeText(node, 'a host')
  return text === '*' ? { destination: undefined, port: { kind: 'web' } } : parseDestination(text, placeOf(node))
}

const parseCommand = (node: PolicyNode): CommandPattern => {
  const parsed = parseCommandPattern(nodeText(node, 'a command pattern'))
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
  if (!isMapping(node.value)) throw invalid(node, 'a mapping of argument names to values')
  return Object.entries(node.value).map(([key, value]) => {
    const child: PolicyNode = { ...node, value, path: [...node.path, key] }
    const items = Array.isArray(value) ? someItemsOf(child, 'a value, or a list of values') : [child]
    return { keys: key.split('.'), accepts: items.map(parseAccepted) }
  })
}

const parseAccepted = (node: PolicyNode): ArgumentCondition['accepts'][number] => {
  const { value } = node
  if (typeof value === 'string') return parseTextPattern(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return { exactly: value }
  throw invalid(node, 'a text with * and ?, a number, true, false or null')
}
