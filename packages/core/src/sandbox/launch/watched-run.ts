// A call and the watch over its write roots, and what to do if another program changed them before the tool ran.
import { CordonError, fail } from '../../errors/index.js'
import { WALLS, parentOf } from '../../policy/index.js'

import type { CallResult } from '../call-result.js'
import type { Cell, CellConnection } from './cell.js'
import type { CallPatrol, EndedPatrol } from '../watch/patrols.js'
import type { CellRequest, PlannedCell } from '../plan/planned-cell.js'
import type { Planner } from '../plan/planner.js'
import type { Violation } from '../result/violations.js'
import type { Backend } from '../backends.js'
import type { ReadyCell } from './pool.js'

export interface WatchedRun {
  /** Called right before the program gets its command. */
  readonly go: () => void
  readonly end: () => Promise<readonly Violation[]>
}

export const watchRun = (
  patrol: CallPatrol,
  planner: Planner,
  request: CellRequest,
  planned: PlannedCell,
): WatchedRun => ({
  go: () => {
    patrol.go(planned.closed)
  },
  end: async () => {
    const ended = await patrol.end()
    const refusal = refusalOfNext(ended, patrol, planner, request)
    return refusal === undefined ? ended.violations : [...ended.violations, unusable(refusal, request)]
  },
})

// Other refusals come from the tool's own files: a program that it removed, a file that it was granted.
const REFUSALS_BY_CONTENT: ReadonlySet<string> = new Set(['plan-rejected', 'glob-too-many'])

/** The error with which the next call of this kind would be refused because of what this one made. */
const refusalOfNext = (
  { next }: EndedPatrol,
  patrol: CallPatrol,
  planner: Planner,
  request: CellRequest,
): CordonError | undefined => {
  if (next === undefined || next instanceof CordonError) return next
  try {
    planner.tryNext(request, patrol.sealed, next)
    return undefined
  } catch (error) {
    return error instanceof CordonError && REFUSALS_BY_CONTENT.has(error.code) ? error : undefined
  }
}

const unusable = ({ message }: CordonError, { boundary, cwd }: CellRequest): Violation => {
  const root = boundary.write.find(({ negated }) => !negated)?.base ?? parentOf(cwd)
  return { kind: 'protected', deed: 'unusable', path: root, problem: message }
}

/** Kills the cell of a call, also if it is opened later. */
export interface Ender {
  readonly end: () => void
  readonly of: (opened: Cell) => Cell
  readonly isWanted: () => boolean
}

export const createEnder = (): Ender => {
  let cell: Cell | undefined
  let isWanted = false
  return {
    end: () => {
      isWanted = true
      cell?.kill()
    },
    of: (opened) => {
      cell = opened
      if (isWanted) cell.kill()
      return opened
    },
    isWanted: () => isWanted,
  }
}

/** A cell could not be built because a write root changed meanwhile. That was seen, or is likely. */
export interface Disturbance {
  readonly error: CordonError
  readonly isSeen: boolean
}

/** In the words of a launcher whose setup fails. */
export const seenDisturbance = (): CordonError =>
  fail('setup-failed', {
    stage: 'root',
    problem: 'another program keeps changing protected names in a write root, or what is granted or carved out',
    fix: 'run it again when that program has ended',
  })

// The stages that meet the contents of write roots, and the stage of a cell that was killed before its program began.
const STAGES_OF_CONTENT: ReadonlySet<unknown> = new Set(['root', 'landlock', 'cell', ...WALLS])

/** Texts of strerror. The plan knew the object at each name, so another program has changed it. */
const CHANGED: ReadonlySet<unknown> = new Set([
  'No such file or directory',
  'File exists',
  'Not a directory',
  'Is a directory',
])

export const disturbanceIn = (error: CordonError, ender: Ender): Disturbance | undefined => {
  const { stage, errno } = error.params
  if (ender.isWanted()) return { error, isSeen: true }
  return STAGES_OF_CONTENT.has(stage) ? { error, isSeen: CHANGED.has(errno) } : undefined
}

const MOST_TRIES = 8
/** If no change was seen, there may be a lasting reason. */
const MOST_TRIES_UNSEEN = 3
const FIRST_WAIT_MS = 2

/** Builds a cell and runs its call. If a disturbance kept the tool from starting, it tries again. */
export const untilUndisturbed = async (
  attempt: (isFirst: boolean) => Promise<CallResult | Disturbance>,
): Promise<CallResult> => {
  for (let tries = 1; ; tries += 1) {
    const result = await attempt(tries === 1)
    if (!('error' in result)) return result
    if (tries >= (result.isSeen ? MOST_TRIES : MOST_TRIES_UNSEEN)) throw result.error
    await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** tries))
  }
}

export interface BegunRequest {
  readonly request: CellRequest
  /** To a launcher with a head start. */
  readonly connection: CellConnection | undefined
  readonly backend: Backend
}

/**
 * Waits for the three things that a call begins with at the same time: the watcher looks into its write roots, the pool
 * looks for a warm cell, and a launcher may enter its namespaces. If one fails, the others are ended.
 */
export const waitForBegin = async (
  patrol: Promise<CallPatrol>,
  waiting: Promise<ReadyCell | undefined>,
  begun: Promise<BegunRequest>,
): Promise<readonly [CallPatrol, ReadyCell | undefined, BegunRequest]> => {
  try {
    return await Promise.all([patrol, waiting, begun])
  } catch (error) {
    void waiting.then((ready) => ready?.cell.discard())
    await begun.then(
      ({ connection }) => connection?.destroy(),
      () => undefined,
    )
    await patrol.then(
      ({ giveUp }) => giveUp(),
      () => undefined,
    )
    throw error
  }
}
