// The parts of a tool that a manifest holds it to, without what only people read of it.
import { keyedHash, policyValue, portablePath, portablePolicy } from '../../manifest/index.js'
import type { HeldTool, ManifestKey, ProjectPlaces } from '../../manifest/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { redactText } from '../events/redact.js'
import { writtenCommand } from '../tool-identity/written-command.js'
import type { ToolContainer, ToolDefinition } from '../tools/tools.js'

export const heldTool = (definition: ToolDefinition, places: ProjectPlaces, key: ManifestKey): HeldTool => {
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

type ProcessTool = Extract<ToolDefinition, { readonly kind: 'process' }>

const programOf = (
  { command, container }: Pick<ProcessTool, 'command' | 'container'>,
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
