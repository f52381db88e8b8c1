// A call and the watch over its write roots: from the moment in which its tool runs to what it left there.
import { setTimeout as wait } from 'node:timers/promises'

import { CordonError, fail } from '../../errors/index.js'
import { parentOf } from '../../policy/index.js'

import type { CallResult } from '../call-result.js'
import type { Cell } from './cell.js'
import type { CallPatrol, EndedPatrol } from '../watch/patrols.js'
import type { CellRequest, PlannedCell } from '../plan/plan-cell.js'
import type { Planner } from '../plan/planner.js'
import type { Violation } from '../result/violations.js'

export interface WatchedRun {
  /** Right before the program gets its command. */
  readonly go: () => void
  /** Everything that the call should not have done in its write roots. */
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

// Of other refusals the tool's own files are the reason: a program that it removed, a file that it was granted.
const REFUSALS_BY_CONTENT: ReadonlySet<string> = new Set(['plan-rejected', 'glob-too-many'])

/** Why the next call of this kind would be refused for what this one made. */
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
    if (error instanceof CordonError && REFUSALS_BY_CONTENT.has(error.code)) return error
    return undefined
  }
}

const unusable = ({ message }: CordonError, { boundary, cwd }: CellRequest): Violation => {
  const root = boundary.write.find(({ negated }) => !negated)?.base ?? parentOf(cwd)
  return { kind: 'protected', deed: 'unusable', path: root, problem: message }
}

/** Ends the cell of a call, also one that is opened only after that was wanted. */
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

/**
 * A cell that did not come about because somebody changed a write root while it was built, as was seen or is likely.
 */
export interface Disturbance {
  readonly error: CordonError
  readonly isSeen: boolean
}

/** As the launcher says it of a setup that fails. */
export const seenDisturbance = (): CordonError =>
  fail('setup-failed', {
    stage: 'root',
    errno: 'EBUSY',
    detail: 'another program keeps changing protected names in a write root',
    fix: 'run it again when that program has ended',
  })

// Where the launcher meets what lies in the write roots; and a cell that was ended before its program began.
const STAGES_OF_CONTENT: ReadonlySet<unknown> = new Set(['root', 'landlock', 'cell'])

/** As strerror says it. The plan knew what each name is: somebody removed, made or replaced it since. */
const CHANGED: ReadonlySet<unknown> = new Set([
  'No such file or directory',
  'File exists',
  'Not a directory',
  'Is a directory',
])

export const disturbanceIn = (error: CordonError, ender: Ender): Disturbance | undefined => {
  const isOfContent = STAGES_OF_CONTENT.has(error.params['stage'])
  if (ender.isWanted()) return { error, isSeen: true }
  return isOfContent ? { error, isSeen: CHANGED.has(error.params['errno']) } : undefined
}

const MOST_TRIES = 8
/** Where nobody saw a change, the reason may be another, which stays. */
const MOST_TRIES_UNSEEN = 3
const FIRST_WAIT_MS = 2

/** Builds a cell and runs its call; where its tool did not run because somebody disturbed that, once more. */
export const untilUndisturbed = async (
  attempt: (isFirst: boolean) => Promise<CallResult | Disturbance>,
): Promise<CallResult> => {
  for (let tries = 1; ; tries += 1) {
    const result = await attempt(tries === 1)
    if (!('error' in result)) return result
    if (tries >= (result.isSeen ? MOST_TRIES : MOST_TRIES_UNSEEN)) throw result.error
    await wait(FIRST_WAIT_MS * 2 ** tries)
  }
}
