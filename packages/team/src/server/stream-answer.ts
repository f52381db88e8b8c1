// Streams a growing answer as server-sent events. The id of each is the mark to continue after. The stream ends after a
// while, so that clients show their token again.
import type { ServerResponse } from 'node:http'

import { followGrowth } from '../store/index.js'
import type { AnyOperation, Caller, Registry, GrowthReader, RequestFields } from '../store/index.js'
import { problemOf } from './problem.js'

/** A comment is sent this often, because proxies close silent connections. */
const BREATH_MS = 15_000
/** A client that reads nothing for this long loses its connection. */
const TAKE_IN_MS = 30_000
/** After this long clients reconnect. */
const RETRY_MS = 250

export interface Streaming {
  readonly registry: Registry
  readonly caller: Caller
  readonly given: RequestFields
  readonly growing: Pick<GrowthReader, 'untilMs' | 'signal' | 'turn'>
  readonly headers: Readonly<Record<string, string>>
  readonly report: (error: unknown) => void
}

export const streamAnswer = async (
  response: ServerResponse,
  operation: AnyOperation,
  { registry, caller, given, growing, headers, report }: Streaming,
): Promise<void> => {
  // A refusal is an ordinary answer, sent before the stream begins.
  await growing.turn((over) => registry.answer(operation, caller, given, over))
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
  const write = (text: string): Promise<void> => (response.write(text) ? Promise.resolve() : takenIn(response))
  await write(`retry: ${RETRY_MS}\n\n`)
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

/** Resolves when the client has read enough. */
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
