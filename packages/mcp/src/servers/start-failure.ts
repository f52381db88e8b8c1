// Why a server ended before it answered: what it was refused, what it said last, and the options and the line of
// mcp.yaml that would grant it. Only the server itself can say which variable it lacks.
import { isHabit } from 'cordon/sandbox'
import type { CallResult } from 'cordon/sandbox'
import type { Boundary } from 'cordon/policy'
import { policyLines } from 'cordon/runtime'
import type { OwnFile } from 'cordon/runtime'

import type { Environment, RunOrder } from 'cordon/commands'
import { adviseOnStart, explainViolations, hintsOnFailure, hintsOnNamed } from 'cordon/commands'

interface EndedServer {
  readonly name: string
  readonly order: RunOrder
  readonly boundary: Boundary
  readonly ownFiles: readonly OwnFile[]
  readonly result: CallResult
  /** The end of its stderr. */
  readonly said: string
  readonly environment: Environment
}

/** Empty if nothing is known. */
export const adviseOnServer = (server: EndedServer): string => {
  const { order, boundary, ownFiles, result, said, environment } = server
  // The words of a server name hosts that it could not even look up.
  const argv = [...order.argv, ...hostsIn(said).map((host) => `https://${host}/`)]
  const refused = explainViolations(asFailure(result), false, { ...order, argv, ownFiles })
  const exitCode = result.status === 'exited' ? result.exitCode : 0
  const known = [...refused, ...adviseOnStart(order, boundary, exitCode, environment)]
  const lacking = variablesIn(said).filter((name) => !boundary.environment.some((entry) => entry.name === name))
  const hints = result.status === 'exited' ? hintsOn({ ...order, argv, ownFiles }, boundary, result.profile, known) : []
  const options = [
    ...known,
    ...lacking.map(
      (name) => `it wrote about ${name}, a variable that it does not get: add ${optionFor(name, environment)}`,
    ),
    ...(known.length + lacking.length === 0 ? hints : []),
  ]
  if (options.length === 0) return ''
  const lines = [
    ...policyLines(
      result.violations.filter((violation) => !isHabit(violation, argv)),
      { workspace: order.workspace, ownFiles, words: argv },
    ),
    ...(lacking.length === 0 ? [] : [`environment: [${lacking.join(', ')}]`]),
  ]
  const inFile =
    lines.length === 0 ? '' : `; or in mcp.yaml: servers: { ${server.name}: { policy: { ${lines.join(', ')} } } }`
  return `${options.slice(0, MOST).join('; ')}${inFile}`
}

/** What its words name is narrower than its working folder. */
const hintsOn = (...about: Parameters<typeof hintsOnFailure>): readonly string[] => {
  const [command, boundary] = about
  const named = hintsOnNamed(command, boundary)
  return named.length > 0 ? named : hintsOnFailure(...about)
}

const MOST = 5

/** A server that ends with 0 before it answers has failed too. */
const asFailure = (result: CallResult): CallResult =>
  result.status === 'exited' && result.exitCode === 0 ? { ...result, exitCode: 1 } : result

const optionFor = (name: string, environment: Environment): string =>
  environment[name] === undefined ? `--env ${name}=VALUE` : `--env ${name}`

const VARIABLE = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g
/** Codes of errors, which look alike. */
const CODE = /^(?:ERR_|MODULE_NOT_|UV_|EAI_|NODE_|SSL_|UND_)|_ERROR$|_WARNING$/

const variablesIn = (said: string): readonly string[] => [
  ...new Set((said.match(VARIABLE) ?? []).filter((word) => !CODE.test(word))),
]

const hostsIn = (said: string): readonly string[] => [
  ...new Set(
    Array.from(
      said.matchAll(/\b(?:ENOTFOUND|EAI_AGAIN) (?<host>[\w.-]+)/g),
      ({ groups }) => groups?.['host'] ?? '',
    ).filter((host) => host.includes('.')),
  ),
]

const MOST_KEPT = 4_096
const MOST_LINES = 3
const MOST_LETTERS = 300

interface KeptEnd {
  readonly add: (bytes: Uint8Array) => void
  readonly text: () => string
}

/** Keeps the end of what a server writes. */
export const keepEnd = (): KeptEnd => {
  let kept = Buffer.alloc(0)
  return {
    add: (bytes) => {
      kept = Buffer.concat([kept, bytes]).subarray(-MOST_KEPT)
    },
    text: () => kept.toString('utf8'),
  }
}

/** For one line of an error. */
export const lastLines = (said: string): string => {
  const lines = said.split('\n').filter((line) => /\S/.test(line))
  const telling = lines.filter((line) => !/^\s*(?:at |\^|\}|Node\.js v)/.test(line))
  return (telling.length === 0 ? lines : telling)
    .slice(-MOST_LINES)
    .map((line) => line.trim().slice(0, MOST_LETTERS))
    .join(' | ')
}
