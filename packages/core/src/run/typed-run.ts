// One typed command from its words to its end: everything that `cordon run` does before it reports.
import { constants } from 'node:os'

import { CordonError, fail } from '../errors/index.js'
import { resolvePolicy } from '../policy/index.js'
import type { Boundary } from '../policy/index.js'
import type { CallResult } from '../sandbox/index.js'

import type { CommandLine } from '../line/caller.js'
import { EXIT_REFUSED, exitStatusOf } from '../line/failure.js'
import { configFolderOf } from '../settings/own-folders.js'
import type { RunOrder } from './request/run-request.js'
import { warningsOf } from './request/warnings.js'
import { explainViolations } from './text/explain.js'
import { adviceToHooked, hintsOnFailure } from './text/hints.js'
import { adviseOnStart } from './text/start-advice.js'
import { upstreamProblems } from './text/upstream-problems.js'
import type { Launch } from './attached-runner.js'
import { describeRun, undecided, wouldRun } from './facts.js'
import type { DecidedRun, Facts, Outcome } from './facts.js'
import { onGrantedNetwork } from './launch-in-cell.js'
import { performRun } from './perform-run.js'
import { recordRefusal } from './record.js'
import { runAttached } from './run-attached.js'
import { openRunGate } from './run-gate.js'
import { NotServed } from './run-seat.js'
import type { RunSeat } from './run-seat.js'

const EXIT_TIMED_OUT = 124
const { SIGKILL } = constants.signals

export interface TypedRun {
  readonly outcome: Outcome
  readonly facts: Facts
  /** Refusals, problems and hints, for people. */
  readonly advice: readonly string[]
  readonly exitStatus: number
}

/** `warn` gets the warnings before the command runs. */
export const runTyped = async (
  line: CommandLine,
  seat: RunSeat,
  warn: (lines: readonly string[]) => void,
): Promise<TypedRun> => {
  const interactive = seat.isInteractive()
  const known: Known = { order: undefined, decided: undefined, wasPermitted: false }
  const { outcome, advice } = await perform(line, seat, interactive, known, warn).catch((error: unknown): Ended => {
    if (error instanceof NotServed) throw error
    const { order, wasPermitted } = known
    const explained = order === undefined ? error : explainMode(error, order)
    return { outcome: { kind: 'refused', error: explained, wasPermitted }, advice: [] }
  })
  const { order } = known
  const error = outcome.kind === 'refused' ? outcome.error : undefined
  const decided = known.decided ?? undecided(error, order, order?.mode ?? 'default', interactive)
  if (known.decided === undefined && !line.given.switches.has('dry-run'))
    await recordRefusal(decided, error, line, seat.openLog)
  const exitStatus = statusOf(outcome, decided)
  return { outcome, facts: describeRun(order, decided, outcome, exitStatus), advice, exitStatus }
}

/** What is known about a run when it fails. */
interface Known {
  order: RunOrder | undefined
  decided: DecidedRun | undefined
  wasPermitted: boolean
}

type Ended = Pick<TypedRun, 'outcome' | 'advice'>

const perform = async (
  line: CommandLine,
  seat: RunSeat,
  interactive: boolean,
  known: Known,
  warn: (lines: readonly string[]) => void,
): Promise<Ended> => {
  const { given, environment } = line
  const prepared = await seat.prepare(line, interactive, (order) => {
    known.order = order
  })
  const { order } = prepared
  await seat.accept(prepared)
  if (given.switches.has('dry-run')) {
    const { gate, call } = openRunGate(prepared)
    const { decision } = await gate.decide(call)
    known.decided = { decision, state: gate.state() }
    return { outcome: { kind: 'evaluated', order, boundary: prepared.tool.boundary }, advice: [] }
  }
  warn(warningsOf(line, order, prepared.tool.boundary))
  const isObserved = given.switches.has('observe')
  // Probing the host takes time, so it runs while the decision is made.
  const opening = seat.openPlace(order, environment)
  opening.catch(() => undefined)
  const launch: Launch = async (argv, boundary, { beforeStart, ...call }) => {
    known.wasPermitted = true
    const observe = isObserved ? 'everything' : 'changes'
    const place = await opening
    return onGrantedNetwork(order, environment, place.isNested, boundary, call, (passed, granted) =>
      runAttached({ argv, cwd: order.cwd, boundary, observe, beforeStart, ...granted }, place, seat, line, passed),
    )
  }
  try {
    const onDecided = (decided: DecidedRun): void => {
      known.decided = decided
    }
    const ran = await performRun(prepared, launch, onDecided, seat.openLog)
    const { argv, boundary, ownFiles, result, reached, bare } = ran
    const refusals = adviceOn(result, { ...order, argv, ownFiles }, boundary, isObserved, line)
    const advice = [...upstreamProblems(reached), ...bare, ...refusals]
    const toHooked = adviceToHooked(advice, given, configFolderOf(environment, order.home))
    return { outcome: { kind: 'ran', ...ran }, advice: [...advice, ...toHooked] }
  } finally {
    await opening.then(
      (place) => place.close(),
      () => undefined,
    )
  }
}

/** In the mode plan, names the grants that it forbids. */
const explainMode = (error: unknown, order: RunOrder): unknown => {
  if (!(error instanceof CordonError) || error.code !== 'mode-denies' || order.mode !== 'plan') return error
  const { workspace, home, policy } = order
  const { write, network } = resolvePolicy(policy, { workspace, home, kind: 'process' })
  const changes = [
    ...(write.some(({ negated }) => !negated) ? ['writing'] : []),
    ...(network.kind === 'none' ? [] : ['the network']),
  ]
  return changes.length === 0 ? error : fail('mode-forbids', { mode: order.mode, what: changes.join(' and ') }, error)
}

/** Refusals and hints. A limit or a signal needs no hint. */
const adviceOn = (
  result: CallResult,
  order: RunOrder,
  boundary: Boundary,
  observed: boolean,
  { environment, terminals }: CommandLine,
): readonly string[] => {
  const refused = explainViolations(result, observed, order)
  if (result.status !== 'exited' || result.exitCode === 0) return refused
  const onStart = order.image === undefined ? adviseOnStart(order, boundary, result.exitCode, environment) : []
  const known = [...refused, ...onStart]
  const advice = [...known, ...hintsOnFailure(order, boundary, result.profile, known)]
  // Programs also exit with 1 to say "no", and a script or a model would read this each time.
  return advice.length > 0 || observed || !terminals.err ? advice : [ADVICE_TO_OBSERVE]
}

const ADVICE_TO_OBSERVE = 'Cordon noticed no refusal; to list every file that it refused: add --observe'

/** The status of the command, except for timeouts, and for a success that touched a protected name. */
const statusOf = (outcome: Outcome, { decision }: DecidedRun): number => {
  if (outcome.kind === 'refused') return exitStatusOf(outcome.error)
  if (outcome.kind === 'evaluated') return wouldRun(decision) ? 0 : EXIT_REFUSED
  const { result, problems } = outcome
  if (result.status === 'limit') return result.limit === 'wall' ? EXIT_TIMED_OUT : 128 + result.signal
  const own = result.status === 'exited' ? result.exitCode : 128 + result.signal
  return problems.length > 0 && (own === 0 || own === 128 + SIGKILL) ? EXIT_REFUSED : own
}
