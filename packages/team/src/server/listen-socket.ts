// Listens on a Unix socket that only this process's user can connect to. Node cannot ask the kernel who connected.
import { once } from 'node:events'
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import type { Server } from 'node:net'
import { messageOf } from 'cordon/errors'

import { fail } from '../errors/errors.js'

const PRIVATE = 0o600
/** The length of sun_path, without its last NUL. */
const LONGEST_PATH = 107

export const listenOnSocket = async (server: Server, path: string): Promise<void> => {
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw refused(path, 'the path of a socket has at most 107 bytes', 'name a shorter one with --socket')
  await removeLeftOver(path)
  // The umask makes the socket private from the first moment.
  const before = process.umask(0o777 & ~PRIVATE)
  try {
    server.listen(path)
    await once(server, 'listening')
  } catch (error) {
    throw refused(path, messageOf(error), 'see that the folder is there and yours', error)
  } finally {
    process.umask(before)
  }
  chmodSync(path, PRIVATE)
}

/** A socket without an answer was left by a process that was killed. */
const removeLeftOver = async (path: string): Promise<void> => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw refused(path, 'there is something else than a socket', 'name another one with --socket')
  if (await isAnswered(path))
    throw refused(path, 'another process listens there', 'use that one, or name another socket with --socket')
  unlinkSync(path)
}

export const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const tried = connect(path)
    tried.once('connect', () => {
      tried.destroy()
      resolve(true)
    })
    tried.once('error', () => {
      resolve(false)
    })
  })

const refused = (path: string, problem: string, fix: string, cause?: unknown) =>
  fail('listen-refused', { where: path, problem, fix }, cause)
