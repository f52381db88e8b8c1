// Starts a wall with the launcher inside: by the nursery, or by itself if it takes over this process's streams.
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

import { fail } from '../../errors/index.js'
import { isRunning, textOfFile } from '../../platform/index.js'

import { TO_CELL, encodeFrame } from '../frames.js'
import type { Stdio } from '../plan/plan.js'
import { bringsMounts } from '../plan/host-facts.js'
import type { Identity } from '../plan/workspace-owner.js'
import { FIRST_INPUT } from '../walls/wall.js'
import type { Wall, WalledCell } from '../walls/wall.js'
import type { CellConnection, StartedLauncher } from './cell.js'
import type { Receive } from './nursery.js'

const MOST_SAID = 4_096
/** For a wall whose launcher is gone. */
const LINGERING_MS = 2_000

/** `connection`: to a nursery. */
export const connectWalled = (wall: Wall, cell: WalledCell, connection: CellConnection): StartedLauncher => {
  const { words, inputs } = wall.command(cell)
  // In a root of its own, the private folder ends with the wall. Otherwise it is one of the host.
  const folder = bringsMounts(wall) ? '' : cell.temporary
  const asked = [inputs.length, folder, wall.program, ...words].map((word) => `${word}\0`).join('')
  connection.write(
    Buffer.concat([
      encodeFrame(TO_CELL.wall, Buffer.from(asked)),
      ...inputs.map((bytes) => encodeFrame(TO_CELL.input, bytes)),
    ]),
  )
  let pid: number | undefined
  return {
    connection,
    wall: {
      name: wall.name,
      started: (number) => (pid = number),
      isRunning: () => pid === undefined || isRunning(pid),
      // The nursery's process around it has told them, or was killed.
      lastWords: () => Promise.resolve('its connection closed'),
      departure: () => wall.departure(cell, () => firstProcessInside(pid)),
    },
  }
}

/**
 * firejail starts its command with bash. If its input is a socket, a bash that nobody nested takes itself for the shell
 * of a remote login, and runs the user's .bashrc.
 */
const NESTED_SHELL = { SHLVL: '2' }

export const spawnWalled = (
  wall: Wall,
  cell: WalledCell,
  stdio: Stdio,
  receive: Receive,
  identity: Identity | undefined,
): StartedLauncher => {
  const { words, inputs } = wall.command(cell)
  const [input, out] = ([stdio.in, stdio.out] as const).map((stream) =>
    stream === 'frames' ? ('ignore' as const) : ('inherit' as const),
  )
  const child = spawn(wall.program, words, {
    stdio: [
      input,
      out,
      stdio.err === 'frames' ? 'pipe' : 'inherit',
      'pipe',
      'ipc',
      ...inputs.map(() => 'pipe' as const),
    ],
    env: NESTED_SHELL,
    detached: true,
    ...identity,
  })
  child.on('message', receive)
  child.channel?.unref()
  child.unref()
  let said = ''
  const errors = child.stderr as unknown as Socket | null
  errors?.on('data', (bytes: Buffer) => {
    if (said.length < MOST_SAID) said += bytes.toString()
  })
  errors?.unref()
  inputs.forEach((bytes, index) => {
    const stream = child.stdio[FIRST_INPUT + index] as unknown as Socket
    // A wall that ends early says why.
    stream.on('error', () => undefined)
    stream.end(bytes)
    stream.unref()
  })
  const connection = child.stdio[3] as unknown as Socket
  let hasEnded = false
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      connection.destroy(fail('launcher-died', { how: error.message }, error))
      resolve(error.message)
    })
    child.once('exit', () => (hasEnded = true))
    child.once('close', (code) => {
      resolve(said.trim() || `it ended with ${code ?? 'a signal'}`)
    })
  })
  return {
    connection,
    wall: {
      name: wall.name,
      started: () => undefined,
      isRunning: () => !hasEnded,
      lastWords: () => {
        // This process must not end before it has said why there is no cell.
        child.ref()
        errors?.ref()
        const killing = setTimeout(() => child.kill('SIGKILL'), LINGERING_MS)
        return ended.finally(() => {
          clearTimeout(killing)
        })
      },
      departure: () => wall.departure(cell, () => firstProcessInside(child.pid)),
    },
  }
}

/** The first child of the wall is the first process inside. */
const firstProcessInside = (pid: number | undefined): number | undefined => {
  const [first] = textOfFile(`/proc/${pid}/task/${pid}/children`)?.split(' ') ?? []
  return first === undefined || first === '' ? undefined : Number(first)
}
