// Asks the local host how it is, or to end.
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { isRunning } from '../platform/index.js'
import { FROM_FRONT, TO_FRONT, createFrameReader, encodeFrame } from '../sandbox/index.js'

import { hostFolders } from '../runtime/own-files/index.js'
import type { HostState } from './host-state.js'

const PATIENCE_MS = 5_000
const MOMENT_MS = 5

/** Undefined if none answers. */
export const askHost = async (build: string, question: 'status' | 'stop'): Promise<HostState | undefined> => {
  for (const folder of hostFolders()) {
    const answer = await ask(connect({ path: `${folder}/${build}` }), question)
    if (answer === undefined) continue
    while (question === 'stop' && isRunning(answer.pid)) await new Promise((resolve) => setTimeout(resolve, MOMENT_MS))
    return answer
  }
  return undefined
}

/** Whether a host of this build accepts connections. */
export const isServed = async (build: string): Promise<boolean> => {
  const tries = hostFolders().map(
    (folder) =>
      new Promise<boolean>((resolve) => {
        const connection = connect({ path: `${folder}/${build}` })
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
