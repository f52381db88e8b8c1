import type { All, EnvironmentEntry, ProgramGrant, Section, ToolPolicy } from '../model.js'
import { MECHANISMS, PRESET_NAMES, RISKS } from '../model.js'
import { parseCredentials } from './parse-credentials.js'
import { parseEgressClass, parseHostGrants } from './parse-network.js'
import { parseLimits } from './parse-limits.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import type { PolicyNode } from './policy-node.js'
import { conflict, invalid, mappingOf, oneOf, placeOf, rootNode, nodeText, wordsOf } from './policy-node.js'
import { fail } from '../../errors/index.js'
import { variableText } from '../resolve/canonical-policy.js'
import { readDocument } from './read-document.js'

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

/** Reads a policy from YAML or JSON text. Errors name the file, the line and the key. */
export const loadPolicyText = (text: string, fileName: string): ToolPolicy =>
  parsePolicyNode(readDocument(text, fileName))

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
    (items) => items.map((item) => parsePathGlob(nodeText(item, 'a path pattern'), placeOf(item))),
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

/** A bare name, or the path of one program. Programs are listed, not matched by patterns. */
const parseProgram = (node: PolicyNode): ProgramGrant => {
  const text = nodeText(node, 'a program name or path')
  const where = placeOf(node)
  const glob = parsePathGlob(text, where)
  const isOnePath =
    glob.alternatives.length === 1 &&
    glob.alternatives.every(({ segments }) => segments.every(({ kind }) => kind === 'name'))
  if (glob.negated || !isOnePath) {
    throw fail('glob-malformed', { where, glob: text, problem: 'a program is one name or path, without wildcards' })
  }
  return text.includes('/') ? { kind: 'path', glob } : { kind: 'name', name: text }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const FORM = 'NAME or NAME=value'

const parseEnvironmentEntries = (items: readonly PolicyNode[]): readonly EnvironmentEntry[] => {
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
  const text = nodeText(item, FORM)
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  // A wildcard in a name could pass on secrets of the host.
  if (!NAME.test(name)) throw invalid(item, `${FORM}, with a name of letters, digits and underscores`)
  if (text.includes('\0')) throw invalid(item, `${FORM} without NUL bytes`)
  return { name, value: equals === -1 ? { kind: 'pass' } : { kind: 'set', text: text.slice(equals + 1) } }
}
