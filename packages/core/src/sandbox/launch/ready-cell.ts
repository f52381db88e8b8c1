import { lstatSync } from 'node:fs'

import type { AbsolutePath } from '../../policy/index.js'

import type { Cell, CellEnd, CellStreams } from './cell.js'
import type { Door } from './doors.js'
import { pathFor } from '../grants/file-names.js'
import type { Command } from '../plan/plan.js'
import type { PlannedCell } from '../plan/planned-cell.js'
import type { Place } from '../grants/object-at.js'

export interface OpenedCell {
  readonly cell: Cell
  readonly door: Door | undefined
}

/** A warm cell, with what its boundary was made of. */
export interface ReadyCell extends OpenedCell {
  readonly program: string
  readonly planned: PlannedCell
  readonly sealed: readonly Place[]
  /**
   * Identifies the objects at the granted paths: mounts and Landlock rules hold those, not later ones at the same path.
   */
  readonly ground: string
  readonly started: StartedProgram | undefined
}

export interface StartedProgram {
  /** Gives the program the input of its call, and settles when it has ended. */
  readonly begin: (stdin: Uint8Array, streams: CellStreams) => Promise<CellEnd>
}

/** Starts a program before its call. Output until then is kept for the call. */
export const startEarly = (cell: Cell, command: Command, first: Uint8Array): StartedProgram => {
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
  try {
    const { dev, ino } = lstatSync(pathFor(path), { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return 'none'
  }
}

/** Whether a cell built now would be the same. */
export const isStillTrue = (ready: ReadyCell, program: string, sealed: readonly Place[]): boolean =>
  ready.cell.isAlive() &&
  ready.program === program &&
  isSameSeal(ready.sealed, sealed) &&
  groundOf(ready.planned.ground) === ready.ground

const isSameSeal = (left: readonly Place[], right: readonly Place[]): boolean =>
  left.length === right.length &&
  left.every(({ path, object }, index) => right[index]?.path === path && right[index].object === object)
