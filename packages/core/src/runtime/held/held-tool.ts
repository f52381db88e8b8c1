// The parts of a tool that a manifest holds it to, without what only people read of it.
import { parse } from 'acorn'
import type { AnyNode } from 'acorn'

import { keyedHash, policyValue, portablePath, portablePolicy } from '../../manifest/index.js'
import type { HeldTool, ManifestKey, ProjectPlaces } from '../../manifest/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { redactText } from '../events/redact.js'
import { asExpression } from '../tools/function-source.js'
import type { ToolContainer, ToolDefinition, ToolOfKind } from '../tools/tools.js'

export const describeForManifest = (definition: ToolDefinition, places: ProjectPlaces, key: ManifestKey): HeldTool => {
  const { name, kind, constraints, argumentGate } = definition
  const policy = (kind === 'mcp' ? definition.reviewed : undefined) ?? definition.policy
  const { maxInvocations, onlyAfter, forbidden } = constraints
  return {
    name,
    kind,
    ...(kind === 'process' ? programOf(definition, places, key) : {}),
    policy: policyValue(portablePolicy(policy, places), key),
    constraints: {
      ...withoutUndefined({ max_invocations: maxInvocations }),
      only_after: [...onlyAfter].sort(),
      forbidden,
    },
    argument_gate: argumentGate,
  }
}

const programOf = (
  { command, container }: Pick<ToolOfKind<'process'>, 'command' | 'container'>,
  places: ProjectPlaces,
  key: ManifestKey,
): Partial<HeldTool> => {
  const words = writtenCommand(command)?.map((word) => (word === null ? null : shownWord(word, places, key)))
  return {
    ...(container === undefined ? {} : { kind: 'container', container: containerOf(container) }),
    ...withoutUndefined({ command: words }),
  }
}

const containerOf = ({ image, runtime }: ToolContainer): NonNullable<HeldTool['container']> => {
  const [name = '', digest = null] = image.split('@')
  return { image: name, digest, ...withoutUndefined({ runtime }) }
}

/** Words of code are no secrets, except by mistake. */
const shownWord = (word: string, places: ProjectPlaces, key: ManifestKey): string =>
  redactText(word) === word ? portablePath(word, places) : keyedHash(key, 'word', word)

/**
 * The command line of a process tool, as far as its code has the words as they are. The code is read, not run. Null:
 * words that a call gives. Undefined: the code does more than to name words.
 */
const writtenCommand = (command: (input: never) => unknown): readonly (string | null)[] | undefined => {
  const source = asExpression(Function.prototype.toString.call(command))
  if (source === undefined) return undefined
  const [statement] = parse(`(${source})`, { ecmaVersion: 'latest', sourceType: 'script' }).body
  const made = statement?.type === 'ExpressionStatement' ? returnedBy(statement.expression) : undefined
  if (made?.type !== 'ArrayExpression') return undefined
  const words = made.elements.map((element) => (element === null ? null : wordOf(element)))
  return words.some((word) => word !== null) ? words : undefined
}

/** `asExpression` writes a method as the only one of an object. */
const returnedBy = (given: AnyNode): AnyNode | undefined => {
  const [method] =
    given.type === 'MemberExpression' && given.object.type === 'ObjectExpression' ? given.object.properties : []
  const node = method?.type === 'Property' ? method.value : given
  if (node.type !== 'ArrowFunctionExpression' && node.type !== 'FunctionExpression') return undefined
  if (node.async || node.generator) return undefined
  if (node.body.type !== 'BlockStatement') return node.body
  const [only, ...others] = node.body.body
  return only?.type === 'ReturnStatement' && others.length === 0 ? (only.argument ?? undefined) : undefined
}

const wordOf = (node: AnyNode): string | null => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  return node.type === 'TemplateLiteral' && node.expressions.length === 0
    ? (node.quasis[0]?.value.cooked ?? null)
    : null
}
