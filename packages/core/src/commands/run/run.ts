// `cordon run`: runs one command in a cell, and reports on stderr.
import { constants } from 'node:os'
import { isatty } from 'node:tty'

import { CordonError, fail } from '../../errors/index.js'
import type { Boundary } from '../../policy/index.js'
import { resolvePolicy } from '../../policy/index.js'
import type { CallResult } from '../../sandbox/index.js'

import type { CommandLine, Environment } from '../../line/command-line.js'
import { STDERR, oneLine, paintFor, writeText } from '../../line/text/console-text.js'
import { explainViolations } from '../../run/text/explain.js'
import { describeRun, openFactsFile, undecided } from '../../run/facts.js'
import type { Decided, Facts, FactsFile, Outcome } from '../../run/facts.js'
import { EXIT_REFUSED, exitStatusOf, reportFailure } from '../../line/failure.js'
import { hintsOnFailure } from '../../run/text/hints.js'
import { isInteractive } from '../../run/terminal/interactive.js'
import { configFolderOf } from '../../settings/own-folders.js'
import { adviceToHooked } from '../../run/text/hooked-advice.js'
import { performRun } from '../../run/perform-run.js'
import type { Launch } from '../../run/attached-runner.js'
import { prepareRun } from '../../run/prepare-run.js'
import { openPlace } from '../../run/run-place.js'
import { runAttached } from '../../run/run-attached.js'
import { parseRun } from '../../run/request/run-request.js'
import type { RunOrder } from '../../run/request/run-request.js'
import { adviseOnStart } from '../../run/text/start-advice.js'
import { upstreamProblems } from '../../run/text/upstream-problems.js'
import { warningsOf } from '../../run/request/warnings.js'

const EXIT_TIMED_OUT = 124
const { SIGKILL } = constants.signals

export const run = async ({ given, environment }: CommandLine): Promise<number> => {
  const file = given.values.get('facts')?.[0]
  const facts = file === undefined ? undefined : openFactsFile(file)
  const reporting: Reporting = {
    facts,
    json: given.switches.has('json'),
    quiet: given.switches.has('quiet'),
    observe: given.switches.has('observe'),
  }
  const interactive = isInteractive()
  let order: RunOrder | undefined
  let decided: Decided | undefined
  let outcome: Outcome
  let wasPermitted = false
  let advice: readonly string[] = []
  try {
    order = await parseRun(given, environment)
    const manifestFile = given.values.get('manifest')?.[0]
    const held =
      manifestFile === undefined
        ? { order, manifest: undefined }
        : (await import('../../run/hold-run.js')).holdRun(order, manifestFile)
    order = held.order
    const prepared = { ...prepareRun(order, interactive, environment), manifest: held.manifest }
    if (given.switches.has('dry-run'))
      return await (await import('../../run/dry-run.js')).dryRun(prepared, reporting, environment)
    say(
      warningsOf(
        {
          env: given.values.get('env') ?? [],
          way: ['resolve', 'upstream-ca'].filter((name) => given.values.has(name)).map((name) => `--${name}`),
          pins: order.egress.pins,
          withoutTerminal: order.image !== undefined && isatty(0),
        },
        prepared.tool.boundary,
        environment,
      ),
      reporting,
      environment,
    )
    // Probing the host takes time, so it runs while the decision is made.
    const place = openPlace(order, environment)
    place.catch(() => undefined)
    try {
      const { cwd, egress, secrets } = order
      const launch: Launch = async (argv, boundary, { beforeStart, ...call }) => {
        wasPermitted = true
        const attached = {
          argv,
          cwd,
          boundary,
          observe: reporting.observe ? ('everything' as const) : ('changes' as const),
          beforeStart,
        }
        const open = await place
        if (boundary.network.kind !== 'hosts') return runAttached(attached, open, environment)
        const { runWithNetwork } = await import('../../run/run-network.js')
        return runWithNetwork(
          { ...egress, secrets, environment, isNested: open.isNested },
          boundary,
          call,
          ({ passed, ...granted }) => runAttached({ ...attached, ...granted }, open, passed),
        )
      }
      const { argv, boundary, ownFiles, result, problems, reached, bare } = await performRun(
        prepared,
        launch,
        (found) => {
          decided = found
        },
      )
      outcome = { kind: 'ran', argv, result, problems, reached }
      advice = [
        ...upstreamProblems(reached),
        ...bare,
        ...adviceOn(result, { ...order, argv, ownFiles }, boundary, reporting.observe, environment),
      ]
      advice = [...advice, ...adviceToHooked(advice, given, configFolderOf(environment, order.home))]
    } finally {
      await place.then(
        (open) => open.close(),
        () => undefined,
      )
    }
  } catch (error) {
    outcome = {
      kind: 'refused',
      wasPermitted,
      error: order === undefined ? error : explainMode(error, order),
    }
  }
  const exitStatus =
    outcome.kind === 'ran' ? statusOf(outcome.result, outcome.problems.length > 0) : exitStatusOf(outcome.error)
  const asDecided =
    decided ??
    undecided(outcome.kind === 'refused' ? outcome.error : undefined, order, order?.mode ?? 'default', interactive)
  if (decided === undefined && outcome.kind === 'refused' && !given.switches.has('dry-run'))
    await (await import('../../run/record-refusal.js')).recordRefusal(asDecided, outcome.error, { given, environment })
  report(describeRun(order, asDecided, outcome, exitStatus), outcome, advice, reporting, environment)
  return exitStatus
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
  environment: Environment,
): readonly string[] => {
  const refused = explainViolations(result, observed, order)
  if (result.status !== 'exited' || result.exitCode === 0) return refused
  const onStart = order.image === undefined ? adviseOnStart(order, boundary, result.exitCode, environment) : []
  const known = [...refused, ...onStart]
  const advice = [...known, ...hintsOnFailure(order, boundary, result.profile, known)]
  return advice.length > 0 || observed ? advice : adviceToObserve()
}

/** Only for people: programs also exit with 1 to say "no", and a script or a model would read this each time. */
const adviceToObserve = (): readonly string[] =>
  isatty(STDERR) ? ['Cordon noticed no refusal; to list every file that it refused: add --observe'] : []

interface Reporting {
  readonly facts: FactsFile | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly observe: boolean
}

/** The status of the command, except for timeouts, and for a success that touched a protected name. */
const statusOf = (result: CallResult, isViolated: boolean): number => {
  if (result.status === 'limit') return result.limit === 'wall' ? EXIT_TIMED_OUT : 128 + result.signal
  const own = result.status === 'exited' ? result.exitCode : 128 + result.signal
  return isViolated && (own === 0 || own === 128 + SIGKILL) ? EXIT_REFUSED : own
}

const say = (lines: readonly string[], { json, quiet }: Reporting, environment: Environment): void => {
  if (json || quiet) return
  const paint = paintFor(STDERR, environment)
  for (const line of lines) writeText(STDERR, `${paint('yellow', 'cordon:')} ${oneLine(line)}\n`)
}

const MOST_ERRORS = 20

const report = (
  facts: Facts,
  outcome: Outcome,
  advice: readonly string[],
  reporting: Reporting,
  environment: Environment,
): void => {
  reporting.facts?.write(facts)
  if (reporting.json) {
    writeText(STDERR, `${JSON.stringify(facts)}\n`)
    return
  }
  for (const error of outcome.kind === 'ran'
    ? outcome.problems.slice(0, MOST_ERRORS)
    : outcome.kind === 'refused'
      ? [outcome.error]
      : [])
    reportFailure(error, environment)
  say(advice, reporting, environment)
}
