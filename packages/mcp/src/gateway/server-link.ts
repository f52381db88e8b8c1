// The connection to one server, over all its runs. A server that ended is started again with the next request, and
// introduced as before. What it was asked before is not asked again, because it may have done it.
import type { CordonError } from 'cordon/errors'
import { monotonicMs } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { startServer } from './server-run.js'
import type { ServerRun, ServerSource } from './server-run.js'
import { METHODS } from '../wire/era-2025.js'
import { notificationOf } from '../wire/messages.js'
import type { Fields, NotificationMessage, RequestMessage } from '../wire/messages.js'

export interface ServerLink extends Pick<ServerRun, 'ask' | 'close'> {
  readonly source: ServerSource
  readonly name: string
  /** The present one. */
  readonly run: () => ServerRun
  /** The request that introduced the client. Undefined: the server has not answered one yet. */
  readonly introduction: () => Fields | undefined
  /** Starts it again if it has ended. Settles when it can be asked, or cannot be started. */
  readonly awaken: () => Promise<void>
}

export interface LinkListener {
  readonly onMessage: (link: ServerLink, message: RequestMessage | NotificationMessage) => void
  /** It did what it must not do. The gateway goes on. */
  readonly onTrouble: (error: CordonError) => void
  readonly onEnd: (link: ServerLink, error: CordonError) => void
}

/** Starts again, in a row. A run that lasted this long begins a new row. */
const MOST_RESTARTS = 5
const LASTING_MS = 10 * 60_000

export const openServerLink = (source: ServerSource, listener: LinkListener): ServerLink => {
  const start = (): ServerRun =>
    startServer(source, {
      onMessage: (message) => {
        listener.onMessage(link, message)
      },
      onTrouble: listener.onTrouble,
      onEnd: (error) => {
        listener.onEnd(link, error)
      },
    })
  let run: ServerRun
  let startedAt = monotonicMs()
  let restarts = 0
  let isClosing = false
  let introduction: Fields | undefined
  let waking: Promise<void> | undefined

  const restart = async (introduced: Fields): Promise<void> => {
    restarts = monotonicMs() - startedAt > LASTING_MS ? 1 : restarts + 1
    startedAt = monotonicMs()
    const begun = start()
    run = begun
    const answer = await begun.ask(introduced).answer
    if (answer.kind === 'answered' && 'result' in answer.fields) begun.send(notificationOf(METHODS.initialized, {}))
    else
      begun.end(fail('mcp-server-ended', { server: source.name, how: 'it did not answer when it was started again' }))
  }
  const link: ServerLink = {
    source,
    name: source.name,
    introduction: () => introduction,
    awaken: () => {
      if (waking !== undefined) return waking
      const isSpent = restarts >= MOST_RESTARTS && monotonicMs() - startedAt <= LASTING_MS
      if (!run.isEnded() || introduction === undefined || isClosing || isSpent) return Promise.resolve()
      waking = restart(introduction).finally(() => {
        waking = undefined
      })
      return waking
    },
    ask: (request) => {
      const asked = run.ask(request)
      if (request['method'] === METHODS.initialize)
        void asked.answer.then((answer) => {
          if (answer.kind === 'answered' && 'result' in answer.fields) introduction = request
        })
      return asked
    },
    run: () => run,
    close: () => {
      isClosing = true
      return run.close()
    },
  }
  run = start()
  return link
}
