import { fstatSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'

import { fail } from '../errors/index.js'
import type { Boundary } from '../policy/index.js'
import { resolvePolicy } from '../policy/index.js'
import { openSandbox } from '../sandbox/index.js'
import type { AttachedControl, CallResult } from '../sandbox/index.js'

import { STDERR, STDOUT, oneLine, paintFor, writeFully, writeText } from './console-text.js'
import { adviseOnStart, explainViolations } from './explain.js'
import { describeRun, openFactsFile } from './facts.js'
import type { FactsFile, Outcome } from './facts.js'
import { exitStatusOf, reportFailure } from './failure.js'
import { controlJob, inForeground } from './job-control.js'
import { withLookupAdvice } from './lookup-advice.js'
import type { Invocation } from './main.js'
import { parseRun } from './run-request.js'
import type { RunOrder } from './run-request.js'

const EXIT_TIMED_OUT = 124
const { SIGPIPE } = constants.signals

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
    const result = await runAttached(order, boundary, reporting.observe, environment)
    outcome = { kind: 'ran', result }
    if (result.status === 'exited' && result.exitCode !== 0) advice = adviseOnStart(order, boundary, result.exitCode, environment)
  } catch (error) {
    outcome = { kind: 'refused', error: order === undefined ? error : withLookupAdvice(error, { ...order, searchPath: environment['PATH'] ?? '' }) }
  }
  const exitStatus = outcome.kind === 'ran' ? statusOf(outcome.result) : exitStatusOf(outcome.error)
  report(order, outcome, exitStatus, advice, reporting, environment)
  return exitStatus
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

const statusOf = (result: CallResult): number => {
  if (result.status === 'exited') return result.exitCode
  return result.status === 'limit' && result.limit === 'wall' ? EXIT_TIMED_OUT : 128 + result.signal
}

const report = (order: RunOrder | undefined, outcome: Outcome, exitStatus: number, advice: readonly string[], reporting: Reporting, environment: Invocation['environment']): void => {
  const facts = describeRun(order, outcome, exitStatus, isatty(0))
  reporting.facts?.write(facts)
  if (reporting.json) {
    writeText(STDERR, `${JSON.stringify(facts)}\n`)
  } else if (outcome.kind === 'refused') {
    reportFailure(outcome.error, environment)
  } else if (!reporting.quiet) {
    const paint = paintFor(STDERR, environment)
    for (const line of [...explainViolations(outcome.result, reporting.observe), ...advice]) writeText(STDERR, `${paint('yellow', 'cordon:')} ${oneLine(line)}\n`)
  }
}
