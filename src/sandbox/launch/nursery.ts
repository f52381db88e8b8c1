import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { fail } from '../../errors/index.js'

import type { Stdio } from '../plan/plan.js'
import type { Identity } from '../plan/workspace-owner.js'

/**
 * Takes what launchers give on the channel: connections of tools, as Node hands sockets to its own children (decision
 * 12).
 */
export type Receive = (message: unknown, handle: unknown) => void

/** Gives connections to fresh launchers, each of which builds one cell. */
export interface Nursery {
  readonly connect: () => Duplex
  readonly isAlive: () => boolean
  readonly close: () => void
}

// As long as an abstract name can be: Node versions differ in whether they pad a shorter one.
const NAME_BYTES = 50

/**
 * One small process that forks a launcher per connection: a tenth of the cost of spawning each from
 * Node. It ends with this process, however that ends, because its lifeline then closes.
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
  // The nursery must never keep its host process alive.
  child.unref()
  child.channel?.unref()
  lifeline.unref()
  const errors = child.stderr as unknown as Socket
  errors.unref()
  return {
    connect: () => createConnection({ path: `\0${name}` }),
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
      reject(fail('launcher-died', { how: said.trim() || `the nursery ended with ${String(code)}` }))
    })
    lifeline.once('data', () => {
      resolve()
    })
  })
}

/**
 * One launcher per connection, spawned: for probes, and for streams that it takes over from this
 * process. In a session of its own, because the terminal's signals are this process's to handle.
 */
export const spawnLauncher = (launcher: string, stdio: Stdio, receive?: Receive, identity?: Identity): Duplex => {
  const [input, out, err] = ([stdio.in, stdio.out, stdio.err] as const).map((stream) =>
    stream === 'frames' ? ('ignore' as const) : ('inherit' as const),
  )
  const child =
    receive === undefined
      ? spawn(launcher, [], { stdio: [input, out, err, 'pipe'], env: {}, detached: true, ...identity })
      : spawn(launcher, ['channel'], { stdio: [input, out, err, 'pipe', 'ipc'], env: {}, detached: true, ...identity })
  if (receive !== undefined) child.on('message', receive)
  child.channel?.unref()
  const connection = child.stdio[3] as unknown as Duplex
  child.once('error', (error) => {
    connection.destroy(fail('launcher-died', { how: error.message }, error))
  })
  return connection
}
