// Warm cells: each waits for one call with its boundary applied. A pool keeps some of one program ready.
import { lstatSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { ifSeen } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { CallResult } from '../call-result.js'
import type { Pool, RunInput } from '../sandbox-interface.js'
import { departureFromPlan } from '../result/applied-profile.js'
import { openCell } from './cell.js'
import type { Cell, CellEnd, CellStreams, StartedLauncher } from './cell.js'
import type { CellDoor, Doors } from './doors.js'
import { pathFor } from '../grants/file-names.js'
import { brokeredOf } from '../plan/plan.js'
import type { Command } from '../plan/plan.js'
import type { PlannedCell } from '../plan/planned-cell.js'
import type { RealObject } from '../grants/object-at.js'

const MOST_WAITING = 8
const REFILL_MS = 25
const IDLE_MS = 30_000

/** Keeps cells of the pools that were used last, because each cell takes memory. */
interface KeptCells {
  readonly use: (giveUp: () => void) => void
  readonly forget: (giveUp: () => void) => void
}

export const keepLatest = (most: number): KeptCells => {
  const inOrder = new Set<() => void>()
  const forget = (giveUp: () => void): void => {
    inOrder.delete(giveUp)
  }
  return {
    use: (giveUp) => {
      forget(giveUp)
      inOrder.add(giveUp)
      const [longestUnused] = inOrder
      if (inOrder.size <= most || longestUnused === undefined) return
      forget(longestUnused)
      longestUnused()
    },
    forget,
  }
}

export const createPool = <Ready extends ReadyCell>(
  prepare: () => Promise<Ready>,
  run: (input: RunInput, ready: Promise<Ready | undefined>) => Promise<CallResult>,
  kept: KeptCells,
  onClose: () => void,
): Pool => {
  const waiting: Promise<Ready>[] = []
  let running = 0
  let wanted = 1
  let closed = false
  let idle: NodeJS.Timeout | undefined

  const fill = () => {
    while (!closed && waiting.length < wanted) {
      const next = prepare()
      // Not a failure yet: the call that wants this cell tries again and reports the problem.
      next.catch(() => undefined)
      waiting.push(next)
    }
  }
  /** Passes over cells that died while they waited (killed by hand, out of memory). */
  const take = async (): Promise<Ready | undefined> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const ready = await next.catch(() => undefined)
      // Perhaps the kernel knows that it ended, and we do not yet.
      await new Promise(setImmediate)
      if (ready?.cell.isAlive() === true) return ready
    }
    return undefined
  }
  /** All but the first `left`. */
  const giveUp = (left: number) => {
    wanted = left
    for (const next of waiting.splice(left)) {
      next.then(
        ({ cell }) => {
          cell.discard()
        },
        () => undefined,
      )
    }
  }

  const restInTime = () => {
    clearTimeout(idle)
    idle = setTimeout(() => {
      giveUp(Math.min(wanted, 1))
    }, IDLE_MS)
    idle.unref()
    kept.use(giveUpAll)
  }
  const giveUpAll = () => {
    giveUp(0)
  }
  fill()
  restInTime()

  return {
    run: async (input) => {
      if (closed) throw fail('sandbox-closed', { what: 'pool' })
      running += 1
      // As many cells as calls overlap, up to a bound, so that a burst finds cells ready.
      wanted = Math.min(MOST_WAITING, Math.max(running, Math.ceil((wanted + running) / 2)))
      restInTime()
      try {
        const result = run(input, take())
        // Building the next cell takes processor time from the call that just began. A short call has ended by then.
        setTimeout(fill, REFILL_MS).unref()
        return await result
      } finally {
        running -= 1
        // The caller gets its result first: planning takes longer than many a tool runs.
        setImmediate(fill)
      }
    },
    ready: async () => {
      if (wanted === 0) wanted = 1
      fill()
      const first = await waiting[0]
      await first?.cell.ready
    },
    size: () => waiting.length,
    close: () => {
      closed = true
      clearTimeout(idle)
      kept.forget(giveUpAll)
      giveUpAll()
      onClose()
    },
  }
}

export interface OpenedCell {
  readonly cell: Cell
  readonly door: CellDoor | undefined
}

/** If the launcher departs from the plan, the program never starts. */
export const openPlanned = (
  { plan, encoded, sum }: PlannedCell,
  launched: StartedLauncher,
  doors: Doors,
): OpenedCell => {
  const brokered = brokeredOf(plan)
  const door = brokered === undefined ? undefined : doors.make(brokered.token)
  const cell = openCell(launched, encoded(), (applied) => departureFromPlan(applied, sum()))
  if (door === undefined) return { cell, door }
  const discard = () => {
    cell.discard()
    door.close()
  }
  return { cell: { ...cell, discard }, door }
}

/** A warm cell, with what its boundary was made of. */
export interface ReadyCell extends OpenedCell {
  readonly program: string
  readonly planned: PlannedCell
  readonly sealed: readonly RealObject[]
  /**
   * Identifies the objects at the granted paths: mounts and Landlock rules hold those, not later ones at the same path.
   */
  readonly ground: string
  readonly started: EarlyProgram | undefined
}

export interface EarlyProgram {
  /** Gives the program the input of its call, and settles when it has ended. */
  readonly begin: (stdin: Uint8Array, streams: CellStreams) => Promise<CellEnd>
}

/** Starts a program before its call. Output until then is kept for the call. */
export const startEarly = (cell: Cell, command: Command, first: Uint8Array): EarlyProgram => {
  const kept: { readonly stream: 'onStdout' | 'onStderr'; readonly bytes: Buffer }[] = []
  let streams: CellStreams | undefined
  const take = (stream: 'onStdout' | 'onStderr') => (bytes: Buffer) => {
    if (streams === undefined) kept.push({ stream, bytes: Buffer.from(bytes) })
    else streams[stream](bytes)
  }
  const end = cell.start(command, undefined, { onStdout: take('onStdout'), onStderr: take('onStderr') })
  end.catch(() => undefined)
  cell.write(first)
  return {
    begin: (stdin, sinks) => {
      streams = sinks
      for (const { stream, bytes } of kept.splice(0)) sinks[stream](bytes)
      cell.begin()
      cell.write(stdin)
      return end
    },
  }
}

/** Equal as long as the same objects are at these paths. A waiting cell keeps their numbers from being reused. */
export const groundOf = (paths: readonly AbsolutePath[]): string => paths.map(identityAt).join()

const identityAt = (path: AbsolutePath): string => {
  const status = ifSeen(() => lstatSync(pathFor(path), { bigint: true }))
  return status === undefined ? 'none' : `${status.dev}:${status.ino}`
}

/** Whether a cell built now would be the same. */
export const isStillTrue = (ready: ReadyCell, program: string, sealed: readonly RealObject[]): boolean =>
  ready.cell.isAlive() &&
  ready.program === program &&
  isSameSeal(ready.sealed, sealed) &&
  groundOf(ready.planned.ground) === ready.ground

const isSameSeal = (left: readonly RealObject[], right: readonly RealObject[]): boolean =>
  left.length === right.length &&
  left.every(({ path, object }, index) => right[index]?.path === path && right[index].object === object)
