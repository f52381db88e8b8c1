// Asks local hosts of this user how they are, or to end.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'

import { isRunning, linkStatusAt, namesInFolder } from '../platform/index.js'
import { FROM_FRONT, TO_FRONT, createFrameReader, encodeFrame } from '../sandbox/index.js'

import { hostFolders } from '../runtime/own-files/index.js'
import type { HostState } from './host-state.js'

const PATIENCE_MS = 5_000
const MOMENT_MS = 5
/** It kills and records what it serves. */
const LONGEST_END_MS = 30_000
const BUILD = /^[0-9a-f]{16}$/

/** Undefined if none of this build answers. */
export const askHost = (build: string, question: 'status' | 'stop'): Promise<HostState | undefined> =>
  firstOf(ownFolders().map((folder) => () => askAt(join(folder, build), question)))

/** Hosts of other installations. */
export const askOthers = async (build: string, question: 'status' | 'stop'): Promise<readonly HostState[]> => {
  const paths = ownFolders().flatMap((folder) =>
    namesInFolder(folder)
      .filter((name) => BUILD.test(name) && name !== build)
      .map((name) => join(folder, name)),
  )
  const states = await Promise.all(paths.map((path) => askAt(path, question)))
  return states.filter((state) => state !== undefined)
}

/** Whether a host of this build accepts connections. */
export const isServed = async (build: string): Promise<boolean> => {
  const tries = ownFolders().map(
    (folder) =>
      new Promise<boolean>((resolve) => {
        const connection = connect({ path: join(folder, build) })
        connection.once('connect', () => {
          connection.destroy()
          resolve(true)
        })
        connection.once('error', () => {
          resolve(false)
        })
      }),
  )
  return (await Promise.all(tries)).includes(true)
}

/** As native/front/host-place.c: another user can make a folder of such a name in /tmp. */
const ownFolders = (): readonly string[] =>
  hostFolders().filter((folder) => {
    const status = linkStatusAt(folder)
    return status?.isDirectory() === true && status.uid === process.geteuid?.() && (status.mode & 0o077) === 0
  })

const firstOf = async <Value>(tries: readonly (() => Promise<Value | undefined>)[]): Promise<Value | undefined> => {
  for (const attempt of tries) {
    const value = await attempt()
    if (value !== undefined) return value
  }
  return undefined
}

const askAt = async (path: string, question: 'status' | 'stop'): Promise<HostState | undefined> => {
  const answer = await ask(connect({ path }), question)
  if (question === 'stop' && answer !== undefined)
    for (const until = performance.now() + LONGEST_END_MS; isRunning(answer.pid) && performance.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, MOMENT_MS))
  return answer
}

const ask = (connection: Socket, question: string): Promise<HostState | undefined> =>
  new Promise((resolve) => {
    let answer: HostState | undefined
    const read = createFrameReader(TO_FRONT, (kind, payload) => {
      if (kind === TO_FRONT.text) answer = JSON.parse(payload.toString('utf8', 1)) as HostState
    })
    connection.setTimeout(PATIENCE_MS, () => connection.destroy())
    connection.on('data', read)
    connection.on('error', () => undefined)
    // A host that ends closes it last.
    connection.on('close', () => {
      resolve(answer)
    })
    connection.write(encodeFrame(FROM_FRONT.question, Buffer.from(question)))
  })
