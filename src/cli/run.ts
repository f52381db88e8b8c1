import { fstatSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'

import { fail } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'
import { resolvePolicy } from '../policy/index.js'
import { openSandbox } from '../sandbox/index.js'
import type { AttachedControl, CallResult } from '../sandbox/index.js'

import { STDERR, STDOUT, oneLine, paintFor, writeFully, writeText } from './console-text.js'
import { explainViolations } from './explain.js'
import { describeRun, openFactsFile } from './facts.js'
import type { FactsFile, Outcome } from './facts.js'
import { EXIT_REFUSED, exitStatusOf, reportFailure } from './failure.js'
import { hintOnEmptyFolder, hintsOnFailure } from './failure-hints.js'
import { intrusionErrors } from './intrusions.js'
import { controlJob, inForeground } from './job-control.js'
import { withLookupAdvice } from './lookup-advice.js'
import type { Invocation } from './main.js'
import { parseRun } from './run-request.js'
import type { RunOrder } from './run-request.js'
import { adviseOnStart } from './start-advice.js'
import { warningsOf } from './warnings.js'

const EXIT_TIMED_OUT = 124
const { SIGKILL, SIGPIPE } = constants.signals

export const run = async ({ given, environment }: Invocation): Promise<number> => {
  const file = given.values.get('facts')?.[0]
  const facts = file === undefined ? undefined : openFactsFile(file)
  const reporting: Reporting = { facts, json: given.switches.has('json'), quiet: given.switches.has('quiet'), observe: given.switches.has('observe') }
  let order: RunOrder | undefined
  let outcome: Outcome
  let advice: readonly string[] = []
  try {
    order = parseRun(given, environment)
    const boundary = boundaryOf(order)
    say(warningsOf(given.values.get('env') ?? [], boundary, environment), reporting, environment)
    const result = await runAttached(order, boundary, reporting.observe, environment)
    outcome = { kind: 'ran', result, intrusions: intrusionErrors(result, boundary) }
    advice = adviceOn(result, order, boundary, reporting.observe, environment)
  } catch (error) {
    outcome = { kind: 'refused', error: order === undefined ? error : withLookupAdvice(error, { ...order, searchPath: environment['PATH'] ?? '' }) }
  }
  const exitStatus = outcome.kind === 'ran' ? statusOf(outcome.result, outcome.intrusions.length > 0) : exitStatusOf(outcome.error)
  report(order, outcome, exitStatus, advice, reporting, environment)
  return exitStatus
}

/** What was refused, and what the command may have lacked. A limit or a signal has its reason already. */
const adviceOn = (result: CallResult, order: RunOrder, boundary: Boundary, observed: boolean, environment: Invocation['environment']): readonly string[] => {
  const refused = explainViolations(result, observed)
  if (result.status !== 'exited') return refused
  if (result.exitCode === 0) return [...refused, ...hintOnEmptyFolder(order, boundary)]
  const known = [...refused, ...adviseOnStart(order, boundary, result.exitCode, environment)]
  return [...known, ...hintsOnFailure(order, boundary, result.profile, known)]
}

interface Reporting {
  readonly facts: FactsFile | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly observe: boolean
}

const boundaryOf = (order: RunOrder): Boundary => {
  const { workspace, home, policy } = order
  const boundary = resolvePolicy(policy, { workspace, home, kind: 'process' })
  const changes = [...(boundary.write.some(({ negated }) => !negated) ? ['writing'] : []), ...(boundary.network.kind === 'none' ? [] : ['the network'])]
  if (order.mode === 'plan' && changes.length > 0) throw fail('mode-forbids', { mode: order.mode, what: changes.join(' and ') })
  // A terminal is of little use to a program that does not know its kind.
  if (![0, 1, 2].some(isatty) || boundary.environment.some(({ name }) => name === 'TERM')) return boundary
  return { ...boundary, environment: [...boundary.environment, { name: 'TERM', value: { kind: 'pass' } }] }
}

const runAttached = async (order: RunOrder, boundary: Boundary, observe: boolean, environment: Invocation['environment']): Promise<CallResult> => {
  const terminals = { in: isatty(0), out: isatty(STDOUT), err: isatty(STDERR) }
  // In a pipeline the keys may be meant for another (… | less): the command has to ask for them.
  const foreground = terminals.in && !isPipe(STDOUT) && inForeground()
  const job = controlJob({ terminal: terminals.in || terminals.out || terminals.err, foreground })
  let control: AttachedControl | undefined
  let readers = true
  const { PATH: searchPath } = environment
  const sandbox = await openSandbox({ form: order.form, nursery: 'none' })
  try {
    return await sandbox.attach({
      boundary,
      cwd: order.cwd,
      argv: order.argv,
      hostEnvironment: definedOf(environment),
      ...(searchPath === undefined ? {} : { searchPath }),
      observe,
      terminals,
      foreground,
      onStart: (started) => {
        control = started
        job.onStart(started)
      },
      onStopped: job.onStopped,
      onOutput: (stream, bytes) => {
        if (!readers || writeFully(stream === 'out' ? STDOUT : STDERR, bytes)) return
        // What the kernel would have done, had the command written there itself.
        readers = false
        control?.signal(SIGPIPE)
      },
    })
  } finally {
    job.end()
    await sandbox.close()
  }
}

const isPipe = (descriptor: number): boolean => {
  try {
    const status = fstatSync(descriptor)
    return status.isFIFO() || status.isSocket()
  } catch {
    return false
  }
}

const definedOf = (environment: Invocation['environment']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** The command's own, but for what Cordon ended it for, and for a success that left something protected behind. */
const statusOf = (result: CallResult, isViolated: boolean): number => {
  if (result.status === 'limit') return result.limit === 'wall' ? EXIT_TIMED_OUT : 128 + result.signal
  const own = result.status === 'exited' ? result.exitCode : 128 + result.signal
  return isViolated && (own === 0 || own === 128 + SIGKILL) ? EXIT_REFUSED : own
}

const say = (lines: readonly string[], { json, quiet }: Reporting, environment: Invocation['environment']): void => {
  if (json || quiet) return
  const paint = paintFor(STDERR, environment)
  for (const line of lines) writeText(STDERR, `${paint('yellow', 'cordon:')} ${oneLine(line)}\n`)
}

const MOST_ERRORS = 20

const report = (order: RunOrder | undefined, outcome: Outcome, exitStatus: number, advice: readonly string[], reporting: Reporting, environment: Invocation['environment']): void => {
  const facts = describeRun(order, outcome, exitStatus, isatty(0))
  reporting.facts?.write(facts)
  if (reporting.json) {
    writeText(STDERR, `${JSON.stringify(facts)}\n`)
    return
  }
  for (const error of outcome.kind === 'ran' ? outcome.intrusions.slice(0, MOST_ERRORS) : [outcome.error]) reportFailure(error, environment)
  say(advice, reporting, environment)
}
