// An answer as it grows, as server-sent events: each with the mark that `Last-Event-ID` goes on after. It ends by
// itself after a while, so that clients show their token again.
import type { ServerResponse } from 'node:http'

import { followGrowth } from '../store/index.js'
import type { AnyOperation, Caller, Registry, Growing } from '../store/index.js'

import { problemOf } from './problem.js'

/** Between two signs of life, for what is in between and gives up on silence. */
const BREATH_MS = 15_000
/** Without a byte of it taken in. */
const TAKE_IN_MS = 30_000
/** How soon a client is to come again. */
const RETRY_MS = 250

export interface Streaming {
  readonly registry: Registry
  readonly caller: Caller
  readonly given: Readonly<Record<string, unknown>>
  readonly growing: Pick<Growing, 'untilMs' | 'signal' | 'turn'>
  readonly headers: Readonly<Record<string, string>>
  readonly report: (error: unknown) => void
}

export const streamAnswer = async (
  response: ServerResponse,
  operation: AnyOperation,
  { registry, caller, given, growing, headers, report }: Streaming,
): Promise<void> => {
  // What is refused is refused as everything else is: before there is anything to read.
  await growing.turn((over) => registry.answer(operation, caller, given, over))
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
  const write = (text: string): Promise<void> => (response.write(text) ? Promise.resolve() : takenIn(response))
  await write(`retry: ${String(RETRY_MS)}\n\n`)
  try {
    await followGrowth(registry, operation, caller, given, {
      ...growing,
      breathMs: BREATH_MS,
      told: (news) => {
        switch (news.kind) {
          case 'waiting':
            return write(': waiting\n\n')
          case 'item':
            return write(`id: ${news.mark}\nevent: item\ndata: ${JSON.stringify(news.item)}\n\n`)
          case 'end':
            return write(`event: end\ndata: ${JSON.stringify(news.item)}\n\n`)
        }
      },
    })
  } catch (error) {
    if (response.destroyed) return
    const problem = problemOf(error)
    if (problem.status >= 500) report(error)
    await write(`event: problem\ndata: ${JSON.stringify(problem)}\n\n`)
  }
  response.end()
}

/** Who does not read is not waited for for ever. */
const takenIn = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      response.off('drain', taken)
      response.off('close', gone)
    }
    const taken = (): void => {
      settle()
      resolve()
    }
    const gone = (): void => {
      settle()
      response.destroy()
      reject(new Error('who listens has gone'))
    }
    const timer = setTimeout(gone, TAKE_IN_MS)
    response.once('drain', taken)
    response.once('close', gone)
  })
