import { fail } from '../errors/index.js'
import { bindGlob, invalid, itemsOf, mappingOf, oneOf, parseDestination, parsePathGlob, placeOf, sourceOf, textOf } from '../policy/index.js'
import type { Places, PolicyNode } from '../policy/index.js'

import { parseCommandPattern } from './command-pattern.js'
import type { CommandPattern } from './command-pattern.js'
import { foldPattern } from './folded-path.js'
import { EFFECTS } from './rule.js'
import type { ArgumentCondition, HostCondition, PathCondition, Rule, RuleSource } from './rule.js'
import { parseTextPattern } from './text-pattern.js'
import type { DestructiveFacts } from './tool.js'

export const RULE_KEYS = ['id', 'effect', 'tool', 'arguments', 'paths', 'hosts', 'command', 'because', 'destructive', 'examples'] as const

export interface RuleContext {
  readonly source: RuleSource
  readonly places: Places
  /** Which of the rules of its source it is, for the id of a rule that has none. */
  readonly number: number
}

export interface ParsedRule {
  readonly rule: Rule
  readonly examples: PolicyNode | undefined
}

export const parseRule = (node: PolicyNode, { source, places, number }: RuleContext): ParsedRule => {
  const given = mappingOf(node, RULE_KEYS)
  if (given.effect === undefined) throw invalid(node, 'a rule with the key "effect" (deny, ask or allow)')
  if (given.because === undefined) throw invalid(node, 'a rule with the key "because", which tells people and models why')
  const place = sourceOf(node)
  const rule: Rule = {
    id: given.id === undefined ? `${source}:${place}${/:\d+$/.test(place) ? '' : `#${number}`}` : nonEmpty(given.id, 'a name'),
    effect: oneOf(given.effect, EFFECTS),
    source,
    place,
    tools: given.tool === undefined ? [] : oneOrMore(given.tool, 'a tool name or a list of them').map((item) => parseTextPattern(nonEmpty(item, 'a tool name'))),
    arguments: given.arguments === undefined ? [] : parseArguments(given.arguments),
    paths: given.paths === undefined ? [] : parsePaths(given.paths, places),
    hosts: given.hosts === undefined ? [] : oneOrMore(given.hosts, 'a host or a list of hosts').map(parseHost),
    commands: given.command === undefined ? [] : oneOrMore(given.command, 'a command pattern or a list of them').map(parseCommand),
    because: nonEmpty(given.because, 'a reason'),
    destructive: given.destructive === undefined ? undefined : parseDestructive(given.destructive),
  }
  if (rule.effect === 'allow' && isAboutEverything(rule)) throw invalid(node, 'an allow that names a tool, or a condition; to run everything, choose the mode bypass')
  return { rule, examples: given.examples }
}

const isAboutEverything = ({ tools, arguments: conditions, paths, hosts, commands }: Rule): boolean =>
  tools.every((pattern) => pattern.matches('') && !pattern.isLiteral) && conditions.length + paths.length + hosts.length + commands.length === 0

const nonEmpty = (node: PolicyNode, expected: string): string => {
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

const parsePaths = (node: PolicyNode, places: Places): readonly PathCondition[] => {
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
  const patterns = oneOrMore(node, 'a path pattern or a list of them').flatMap((item) => bindGlob(parsePathGlob(textOf(item, 'a path pattern'), placeOf(item)), places))
  if (patterns.every(({ negated }) => negated)) throw invalid(node, 'at least one pattern without "!"; carve-outs alone match nothing')
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
  if (parsed.kind === 'problem') throw fail('policy-invalid-value', { source: sourceOf(node), where: 'command', expected: `a command pattern (${parsed.problem})`, found: JSON.stringify(node.value), hint: '' })
  return parsed.pattern
}

const parseArguments = (node: PolicyNode): readonly ArgumentCondition[] => {
  if (typeof node.value !== 'object' || node.value === null || Array.isArray(node.value)) throw invalid(node, 'a mapping of argument names to values')
  return Object.entries(node.value as Record<string, unknown>).map(([key, value]) => {
    const child: PolicyNode = { value, path: [...node.path, key], locate: node.locate }
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

const parseDestructive = (node: PolicyNode): DestructiveFacts => {
  const { impact_scope: impact, rollback_advice: rollback } = mappingOf(node, ['impact_scope', 'rollback_advice'])
  if (impact === undefined || rollback === undefined) throw invalid(node, 'a mapping with "impact_scope" and "rollback_advice"')
  return { impactScope: nonEmpty(impact, 'a text'), rollbackAdvice: nonEmpty(rollback, 'a text') }
}
