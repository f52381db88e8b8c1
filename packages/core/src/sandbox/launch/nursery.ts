import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'

import { fail } from '../../errors/index.js'

import type { Stdio } from '../plan/plan.js'
import type { StartedLauncher } from './cell.js'
import type { Identity } from '../plan/workspace-owner.js'

/**
 * Takes a message of the launcher's channel: a tool's connection, sent as Node sends sockets to its children (decision
 * 12).
 */
export type Receive = (message: unknown, handle: unknown) => void

/** Connects to new launchers. Each builds one cell. */
interface Nursery {
  readonly connect: () => StartedLauncher
  readonly isAlive: () => boolean
  readonly close: () => void
}

// The longest abstract name: Node versions differ in whether they pad a shorter one.
const NAME_BYTES = 50

/**
 * One small process that forks a launcher for each connection, at a tenth of the cost of a spawn from Node. It ends
 * with this process, because its lifeline then closes.
 */
export const startNursery = async (launcher: string, receive: Receive, identity?: Identity): Promise<Nursery> => {
  const name = `cordon-${randomBytes(NAME_BYTES).toString('hex')}`
  const child = spawn(launcher, ['nursery', name], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc'],
    env: {},
    ...identity,
  })
  child.on('message', receive)
  const lifeline = child.stdio[3] as Socket
  await untilReady(child, lifeline)
  let alive = true
  child.once('exit', () => {
    alive = false
  })
  // They must not keep the host process alive.
  child.unref()
  child.channel?.unref()
  lifeline.unref()
  const errors = child.stderr as unknown as Socket
  errors.unref()
  return {
    connect: () => ({ connection: createConnection({ path: `\0${name}` }), wall: undefined }),
    isAlive: () => alive,
    close: () => {
      lifeline.destroy()
      if (child.connected) child.disconnect()
      errors.destroy()
    },
  }
}

const untilReady = async (child: ChildProcess, lifeline: Socket): Promise<void> => {
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
    child.once('error', (error) => {
      reject(fail('launcher-died', { how: error.message }, error))
    })
    child.once('exit', (code) => {
      reject(fail('launcher-died', { how: said.trim() || `the nursery ended with ${code}` }))
    })
    lifeline.once('data', () => {
      resolve()
    })
  })
}

/** Two launchers by one spawn, which is the expensive part for Node: for probes. */
export const spawnPair = (launcher: string, identity?: Identity): readonly [StartedLauncher, StartedLauncher] => {
  const child = spawn(launcher, ['pair'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: {},
    detached: true,
    ...identity,
  })
  child.unref()
  const [, , , ...connections] = child.stdio as unknown as [null, null, null, Socket, Socket]
  child.once('error', (error) => {
    for (const each of connections) each.destroy(fail('launcher-died', { how: error.message }, error))
  })
  const [one, other] = connections
  return [
    { connection: one, wall: undefined },
    { connection: other, wall: undefined },
  ]
}

/**
 * Spawns one launcher: for further probes, and if it takes over this process's streams. It has its own session, because
 * this process handles the terminal's signals.
 */
export const spawnLauncher = (
  launcher: string,
  stdio: Stdio,
  receive?: Receive,
  identity?: Identity,
): StartedLauncher => {
  const [input, out, err] = ([stdio.in, stdio.out, stdio.err] as const).map((stream) =>
    stream === 'frames' ? ('ignore' as const) : ('inherit' as const),
  )
  const [words, channel] = receive === undefined ? [[], []] : [['channel'], ['ipc' as const]]
  const child = spawn(launcher, words, {
    stdio: [input, out, err, 'pipe', ...channel],
    env: {},
    detached: true,
    ...identity,
  })
  if (receive !== undefined) child.on('message', receive)
  child.channel?.unref()
  // The connection keeps this process alive while the cell is used.
  child.unref()
  const connection = child.stdio[3] as unknown as Socket
  child.once('error', (error) => {
    connection.destroy(fail('launcher-died', { how: error.message }, error))
  })
  return { connection, wall: undefined }
}
