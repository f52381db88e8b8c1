// Why a server ended before it answered: what it was refused, what it said last, and the options and the line of
// mcp.yaml that would grant it.
import { isHabit } from 'cordon/sandbox'
import type { CallResult } from 'cordon/sandbox'
import type { Boundary } from 'cordon/policy'
import { policyLines } from 'cordon/runtime'
import type { OwnFile } from 'cordon/runtime'
import { adviseOnStart, explainViolations, hintsOnFailure } from 'cordon/commands'
import type { Environment, RunOrder } from 'cordon/commands'

interface EndedServer {
  readonly name: string
  readonly order: RunOrder
  readonly boundary: Boundary
  readonly ownFiles: readonly OwnFile[]
  readonly result: CallResult
  readonly environment: Environment
}

/** Empty if nothing is known. */
export const adviseOnServer = ({ name, order, boundary, ownFiles, result, environment }: EndedServer): string => {
  const command = { ...order, ownFiles }
  const refused = explainViolations(asFailure(result), false, command)
  const exitCode = result.status === 'exited' ? result.exitCode : 0
  const known = [...refused, ...adviseOnStart(order, boundary, exitCode, environment)]
  const options =
    known.length > 0 || result.status !== 'exited' ? known : hintsOnFailure(command, boundary, result.profile, known)
  if (options.length === 0) return ''
  const lines = policyLines(
    result.violations.filter((violation) => !isHabit(violation, order.argv)),
    command,
  )
  const inFile = lines.length === 0 ? '' : `; or in mcp.yaml: servers: { ${name}: { policy: { ${lines.join(', ')} } } }`
  return `${options.slice(0, MOST).join('; ')}${inFile}`
}

const MOST = 5

/** A server that ends with 0 before it answers has failed too. */
const asFailure = (result: CallResult): CallResult =>
  result.status === 'exited' && result.exitCode === 0 ? { ...result, exitCode: 1 } : result

const MOST_KEPT = 4_096
const MOST_LINES = 3
const MOST_LETTERS = 300

/** Keeps the end of what a server writes. */
export const keepEnd = (): { readonly add: (bytes: Uint8Array) => void; readonly text: () => string } => {
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
