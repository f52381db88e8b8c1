import { lstatSync } from 'node:fs'

import type { AbsolutePath } from '../../policy/index.js'

import type { Cell, CellEnd, CellStreams } from './cell.js'
import type { Door } from './doors.js'
import { pathFor } from '../grants/file-names.js'
import type { Command } from '../plan/plan.js'
import type { PlannedCell } from '../plan/plan-cell.js'
import type { Place } from '../grants/object-at.js'

export interface OpenedCell {
  readonly cell: Cell
  /** The way to granted hosts, where there are such. */
  readonly door: Door | undefined
}

/** A cell that waits, boundary applied, and what that boundary was made of. */
export interface ReadyCell extends OpenedCell {
  readonly program: string
  readonly planned: PlannedCell
  readonly sealed: readonly Place[]
  /**
   * The very objects that stood at the granted paths: a mount and a Landlock rule hold those, not what replaced them.
   */
  readonly ground: string
  /** Of a program that runs already, and waits for its call. */
  readonly started: StartedProgram | undefined
}

export interface StartedProgram {
  /** Gives it the input of its call, and settles when it has ended. */
  readonly begin: (stdin: Uint8Array, streams: CellStreams) => Promise<CellEnd>
}

/** Starts a program before there is a call for it. What it says meanwhile is kept for the call. */
export const startEarly = (cell: Cell, command: Command, first: Uint8Array): StartedProgram => {
  const kept: { readonly stream: 'onStdout' | 'onStderr'; readonly bytes: Buffer }[] = []
  let streams: CellStreams | undefined
  const take = (stream: 'onStdout' | 'onStderr') => (bytes: Buffer) => {
    if (streams === undefined) kept.push({ stream, bytes: Buffer.from(bytes) })
    else streams[stream](bytes)
  }
  const end = cell.start(command, undefined, { onStdout: take('onStdout'), onStderr: take('onStderr') })
  // Nobody waits for it yet. The call that uses it will.
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

/**
 * Compares equal as long as the same objects are at these paths. A cell that waits keeps their numbers from being given
 * again.
 */
export const groundOf = (paths: readonly AbsolutePath[]): string => paths.map(identityAt).join()

const identityAt = (path: AbsolutePath): string => {
  try {
    const { dev, ino } = lstatSync(pathFor(path), { bigint: true })
    return `${String(dev)}:${String(ino)}`
  } catch {
    return 'none'
  }
}

/** Whether it still is what a cell made now would be. */
export const isStillTrue = (ready: ReadyCell, program: string, sealed: readonly Place[]): boolean =>
  ready.cell.isAlive() &&
  ready.program === program &&
  isSameSeal(ready.sealed, sealed) &&
  groundOf(ready.planned.ground) === ready.ground

const isSameSeal = (left: readonly Place[], right: readonly Place[]): boolean =>
  left.length === right.length &&
  left.every(({ path, object }, index) => right[index]?.path === path && right[index].object === object)
