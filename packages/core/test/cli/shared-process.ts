// One process of `cordon` for many command lines of a test file. To start it takes longer than to run most of them.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { afterAll } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import type { Ran } from './cordon.js'

export interface Line {
  readonly words: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** In base64. */
  readonly input: string | undefined
}

export interface SharedProcess {
  /** Blocks this thread, as spawnSync does. */
  readonly run: (line: Line) => Ran
  /** For lines that need a server of this thread. */
  readonly runBeside: (line: Line) => Promise<Ran>
}

const THREAD = fileURLToPath(new URL('line-thread.mjs', import.meta.url))

/** The process starts with the first line, and ends after the tests of the file. */
export const shareProcess = (nodeOptions: readonly string[]): SharedProcess => {
  let thread: Worker | undefined
  afterAll(async () => {
    if (thread === undefined) return
    const ended = once(thread, 'exit')
    thread.postMessage('end')
    // Where several files share this module, the next one starts its own.
    thread = undefined
    await ended
  })
  const send = (line: Line): { readonly port: MessagePort; readonly answered: Int32Array } => {
    thread ??= new Worker(THREAD, { workerData: { nodeOptions, timeoutMs: ENDS_WHAT_HANGS_MS } })
    const { port1, port2 } = new MessageChannel()
    const answered = new Int32Array(new SharedArrayBuffer(4))
    thread.postMessage({ line, port: port2, answered }, [port2])
    return { port: port1, answered }
  }
  return {
    run: (line) => {
      const { port, answered } = send(line)
      Atomics.wait(answered, 0, 0)
      const { message } = receiveMessageOnPort(port) as { readonly message: Ran }
      port.close()
      return message
    },
    runBeside: async (line) => {
      const { port } = send(line)
      const [ran] = (await once(port, 'message')) as [Ran]
      port.close()
      return ran
    },
  }
}
