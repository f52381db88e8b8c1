// Reads tools for the registry from a file.
import { readGivenDocument } from 'cordon/commands'
import { EGRESS_CLASSES, flagOf, invalid, itemsOf, mappingOf, oneOf, parsePolicy, nodeText } from 'cordon/policy'
import type { PolicyNode } from 'cordon/policy'
import { isMapping, withoutUndefined } from 'cordon/shapes'

import { AUTH_METHODS, PRICED_UNITS } from '../store/index.js'
import type { RequestOf } from '../store/index.js'

const KEYS = [
  'key',
  'name',
  'description',
  'category',
  'input',
  'output',
  'egress_class',
  'requires_approval',
  'approvals_needed',
  'dangerous',
  'endpoint',
  'method',
  'credential',
  'auth_method',
  'needs_labels',
  'needs_boundary',
  'definition',
  'expected_cost',
  'prices',
] as const

type ToolFile = Omit<RequestOf<'registerTool'>, 'team'>

/** One tool, or a list of them. */
export const readToolFile = (path: string): readonly ToolFile[] => {
  const { name, node: read } = readGivenDocument(path, 'name a file with the tool in YAML or JSON')
  const node = { ...read, whole: 'the tool' }
  return (Array.isArray(node.value) ? itemsOf(node, 'a list of tools') : [node]).map((each) => readTool(each, name))
}

const readTool = (node: PolicyNode, path: string): ToolFile => {
  const given = mappingOf(node, KEYS)
  if (given.key === undefined) throw invalid(node, 'a mapping with a key', 'write it like key: send-mail')
  const definition = ifGiven(given.definition, aMapping)
  // Checked here, so that an error has file and line.
  if (definition?.['policy'] !== undefined) parsePolicy(definition['policy'], `${path}: policy`)
  return withoutUndefined({
    key: nodeText(given.key, 'a text'),
    name: ifGiven(given.name, aText),
    description: ifGiven(given.description, aText),
    category: ifGiven(given.category, aText),
    inputSchema: ifGiven(given.input, aMapping),
    outputSchema: ifGiven(given.output, aMapping),
    egressClass: ifGiven(given.egress_class, (each) => oneOf(each, EGRESS_CLASSES)),
    requiresApproval: ifGiven(given.requires_approval, flagOf),
    approvalsNeeded: ifGiven(given.approvals_needed, aNumber),
    isDangerous: ifGiven(given.dangerous, flagOf),
    endpointUrl: ifGiven(given.endpoint, aText),
    httpMethod: ifGiven(given.method, aText),
    credentialRef: ifGiven(given.credential, aText),
    authMethod: ifGiven(given.auth_method, (each) => oneOf(each, AUTH_METHODS)),
    needsLabels: ifGiven(given.needs_labels, texts),
    needsBoundary: ifGiven(given.needs_boundary, texts),
    definition,
    expectedCost: ifGiven(given.expected_cost, aNumber),
    prices: ifGiven(given.prices, pricesOf),
  })
}

const ifGiven = <Value>(node: PolicyNode | undefined, as: (node: PolicyNode) => Value): Value | undefined =>
  node === undefined ? undefined : as(node)

const aText = (node: PolicyNode): string => nodeText(node, 'a text')
const texts = (node: PolicyNode): readonly string[] => itemsOf(node, 'a list of texts').map(aText)
const aNumber = (node: PolicyNode): number => {
  if (typeof node.value !== 'number') throw invalid(node, 'a number')
  return node.value
}
const pricesOf = (node: PolicyNode): NonNullable<ToolFile['prices']> =>
  Object.fromEntries(Object.entries(mappingOf(node, PRICED_UNITS)).map(([name, price]) => [name, aNumber(price)]))
const aMapping = (node: PolicyNode): Readonly<Record<string, unknown>> => {
  if (!isMapping(node.value)) throw invalid(node, 'a mapping')
  return node.value
}
