import type { All, Section, ToolPolicy } from '../model.js'
import { MECHANISMS, PRESET_NAMES, RISKS } from '../model.js'
import { parseCredentials } from './parse-credentials.js'
import { parseEgressClass } from './parse-egress-class.js'
import { parseEnvironmentEntries } from './parse-environment.js'
import { parseLimits } from './parse-limits.js'
import { parseHostGrants } from './parse-network.js'
import { parseProgram } from './parse-program.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import type { PolicyNode } from './policy-node.js'
import { mappingOf, oneOf, placeOf, rootNode, textOf, wordsOf } from './policy-node.js'

export const POLICY_KEYS = [
  'risk',
  'filesystem',
  'network',
  'egress_class',
  'environment',
  'credentials',
  'exec',
  'limits',
  'presets',
  'require',
] as const

/** Reads a policy from a value. `source` names it in errors. */
export const parsePolicy = (value: unknown, source: string): ToolPolicy =>
  parsePolicyNode(rootNode(value, () => source))

export const parsePolicyNode = (node: PolicyNode): ToolPolicy => {
  const sections = mappingOf(node, POLICY_KEYS)
  const network = parseSectionOrAll(sections.network, parseHostGrants, '"none", "all" or a list of hosts')
  const environment = parseSection(
    sections.environment,
    parseEnvironmentEntries,
    '"none" or a list of NAME or NAME=value',
  )
  const egress = parseEgressClass(sections.egress_class, network)
  return {
    risk:
      sections.risk === undefined ? { kind: 'unspecified' } : { kind: 'declared', level: oneOf(sections.risk, RISKS) },
    filesystem: parseFilesystem(sections.filesystem),
    ...egress,
    environment,
    credentials: parseCredentials(sections.credentials, { ...egress, environment }),
    exec: parseSectionOrAll(sections.exec, (items) => items.map(parseProgram), '"none", "all" or a list of programs'),
    limits: sections.limits === undefined || sections.limits.value === 'none' ? {} : parseLimits(sections.limits),
    presets: parseNames(sections.presets, PRESET_NAMES),
    require: parseNames(sections.require, MECHANISMS),
  }
}

const parseFilesystem = (node: PolicyNode | undefined): ToolPolicy['filesystem'] => {
  if (node?.value === 'none') return { read: { kind: 'none' }, write: { kind: 'none' } }
  const { read, write } = node === undefined ? {} : mappingOf(node, ['read', 'write'])
  return { read: parsePaths(read), write: parsePaths(write) }
}

const parsePaths = (node: PolicyNode | undefined): Section<PathGlob> =>
  parseSection(
    node,
    (items) => items.map((item) => parsePathGlob(textOf(item, 'a path pattern'), placeOf(item))),
    '"none" or a list of path patterns',
  )

const parseNames = <Name extends string>(node: PolicyNode | undefined, known: readonly Name[]): readonly Name[] =>
  node === undefined || node.value === 'none'
    ? []
    : [...new Set(wordsOf(node, `a list of: ${known.join(', ')}`).map((item) => oneOf(item, known)))]

type ParseItems<Item> = (items: readonly PolicyNode[]) => readonly Item[]

const parseSection = <Item>(node: PolicyNode | undefined, parse: ParseItems<Item>, expected: string): Section<Item> => {
  if (node === undefined) return { kind: 'unspecified' }
  if (node.value === 'none') return { kind: 'none' }
  const items = parse(wordsOf(node, expected))
  return items.length === 0 ? { kind: 'none' } : { kind: 'list', items }
}

const parseSectionOrAll = <Item>(
  node: PolicyNode | undefined,
  parse: ParseItems<Item>,
  expected: string,
): Section<Item> | All => (node?.value === 'all' ? { kind: 'all' } : parseSection(node, parse, expected))
