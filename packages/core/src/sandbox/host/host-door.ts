// The door of the local host: a process in C that accepts clients and checks them (native/front/door.c).
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

import { fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import type { Receive } from '../launch/nursery.js'
import { findLauncher } from './launcher.js'

/** A client that passed the check. */
export interface Visitor {
  readonly connection: Socket
  readonly pid: number
  /** The ending of the socket at which it came: empty for a request. */
  readonly purpose: string
}

interface AtDoor {
  readonly onVisitor: (visitor: Visitor) => void
  /** Takes the connections of tools, from launchers of which clients have a channel. */
  readonly receive: Receive
}

export interface HostDoor {
  /** Settles when it no longer accepts anybody. */
  readonly closed: Promise<void>
  readonly close: () => void
}

const ANOTHER_SERVES = 3

/** Undefined if another host of this build listens. */
export const openHostDoor = (build: string, { onVisitor, receive }: AtDoor): Promise<HostDoor | undefined> => {
  const door = spawn(findLauncher(), ['door', build], { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc'], env: {} })
  const [, , errors, lifeline] = door.stdio as unknown as Socket[]
  const closed = new Promise<void>((resolve) => {
    door.once('exit', () => {
      resolve()
    })
  })
  door.on('message', (message, handle) => {
    if (!(handle instanceof Socket)) return
    const { pid, purpose } = isMapping(message) && !('cordon' in message) ? message : {}
    if (typeof pid !== 'number' || typeof purpose !== 'string') {
      receive(message, handle)
      return
    }
    handle.on('error', () => undefined)
    onVisitor({ connection: handle, pid, purpose })
  })
  let said = ''
  errors?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  return new Promise((resolve, reject) => {
    lifeline?.once('data', () => {
      resolve({ closed, close: () => lifeline.destroy() })
    })
    door.once('error', reject)
    door.once('exit', (status) => {
      if (status === ANOTHER_SERVES) resolve(undefined)
      else reject(fail('launcher-died', { how: said.trim() || `the door ended with ${String(status)}` }))
    })
  })
}
