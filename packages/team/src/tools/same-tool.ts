// People approve the tool that the registry shows. So a tool of this process runs only if it is the same as everything
// that its registration says.
import { CordonError } from 'cordon/errors'
import { hashOf } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { parsePolicy, policyHash } from 'cordon/policy'
import type { ToolDefinition } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import type { RegisteredTool } from '../store/index.js'
import { filledIn, wordsOf } from './command-template.js'
import { classProblem, egressClassOf } from './egress-class.js'
import type { Places } from './egress-class.js'
import { toolHash } from './tool-hash.js'

export type Registration = Pick<
  RegisteredTool,
  'key' | 'version' | 'definition' | 'egressClass' | 'needsLabels' | 'needsBoundary'
>

export interface SameTool {
  /** Compares the tool. A tool that this process does not have passes: it cannot run here. */
  readonly require: (registration: Registration) => void
  /** Compares the words of one call too. */
  readonly requireCall: (registration: Registration, input: JsonValue) => void
}

export const sameTool = (definitionOf: (name: string) => ToolDefinition | undefined, places: Places): SameTool => {
  const judge = (
    registration: Registration,
    problemOf: (own: ToolDefinition, claims: Claims) => string | undefined,
  ): void => {
    const own = definitionOf(registration.key)
    const problem =
      own === undefined
        ? undefined
        : (classProblem(registration.egressClass, egressClassOf(own, places)) ??
          problemOf(own, registration.definition))
    if (problem !== undefined)
      throw fail('tool-not-as-registered', { tool: registration.key, version: registration.version, problem })
  }
  return {
    require: (registration) => {
      judge(registration, toolProblem)
    },
    requireCall: (registration, input) => {
      judge(registration, (own, claims) => toolProblem(own, claims) ?? callProblem(own, claims, input))
    },
  }
}

type Claims = Readonly<Partial<Record<'kind' | 'command' | 'stdin' | 'policy' | 'hash', unknown>>>

const toolProblem = (own: ToolDefinition, { kind, command, stdin, policy, hash }: Claims): string | undefined => {
  if (kind !== undefined && kind !== own.kind) return `its kind is ${JSON.stringify(kind)} there and "${own.kind}" here`
  if (
    policy !== undefined &&
    policyHash(parsePolicy(policy, `the registered policy of ${own.name}`)) !== policyHash(own.policy)
  )
    return 'its policy there is another one than here'
  if (isWords(command) && own.kind !== 'process') return 'it is a program there, and a function here'
  if (hash === undefined) return undefined
  const hashes = hashesOf(
    own,
    isWords(command) ? { words: command, stdin: typeof stdin === 'string' ? stdin : undefined } : undefined,
  )
  return hashes.known.includes(hash)
    ? undefined
    : `its hash is ${JSON.stringify(hash)} there, and here ` +
        (hashes.known.length === 0 ? `it has none (${hashes.because})` : hashes.known.join(' or '))
}

/** Also with the words of the registration, which are compared at each call. */
const hashesOf = (own: ToolDefinition, template: Parameters<typeof toolHash>[1]) => {
  const known: unknown[] = []
  let because = ''
  for (const form of template === undefined ? [undefined] : [template, undefined])
    try {
      known.push(toolHash(own, form))
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      because = error.message
    }
  return { known, because }
}

const callProblem = (own: ToolDefinition, { command, stdin }: Claims, input: JsonValue): string | undefined => {
  if (own.kind !== 'process' || !isWords(command)) return undefined
  const [there, here] = [wordsOf(own.name, command, input), own.command(input)]
  if (hashOf([...there]) !== hashOf([...here]))
    return `its command there is ${JSON.stringify(there)}, and here ${JSON.stringify(here)}`
  const given = own.stdin?.(input)
  const isSameInput =
    typeof stdin === 'string'
      ? given !== undefined && Buffer.from(given).equals(Buffer.from(filledIn(own.name, stdin, input)))
      : given === undefined
  return isSameInput ? undefined : 'its standard input there is another one than here'
}

const isWords = (command: unknown): command is readonly string[] =>
  Array.isArray(command) && command.every((word) => typeof word === 'string')
