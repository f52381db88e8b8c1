// A session of the revisions up to 2025-11-25: one client with its own gateway. Each POST has a stream for the answers
// to its requests. What belongs to no request goes to the stream of a GET, or waits for one.
import type { ServerResponse } from 'node:http'

import { METHODS, SESSION_HEADER, progressTokenOf } from '../wire/era-2025.js'
import { fieldsOf, isId, paramsOf } from '../wire/messages.js'
import type { Fields, Message, MessageId, SendToClient } from '../wire/messages.js'
import { openMessageStream } from './event-stream.js'
import type { MessageStream } from './event-stream.js'

export interface Session {
  readonly id: string
  /** A body of a POST with requests. The response stays open until all are answered. */
  readonly ask: (text: string, messages: readonly Message[], response: ServerResponse) => void
  /** A body without requests. */
  readonly tell: (text: string) => void
  /** The stream of a GET. False if there is one already. */
  readonly listen: (response: ServerResponse) => boolean
  readonly isIdle: () => boolean
  readonly close: () => Promise<void>
}

/** Messages that wait for the stream of a GET. Beyond this they are dropped. */
const MOST_WAITING = 1_000
const MOST_WAITING_BYTES = 4 * 1024 * 1024

interface PostStream {
  readonly stream: MessageStream
  readonly ids: Set<MessageId>
  readonly tokens: ReadonlySet<unknown>
}

export const openSession = async (id: string, open: OpenConnection): Promise<Session> => {
  const posts = new Set<PostStream>()
  let standing: MessageStream | undefined
  let early: Fields[] = []
  let earlyBytes = 0

  const sendUnrelated = (message: Fields): Promise<void> | undefined => {
    // A question comes during a request, mostly the last one.
    const post = [...posts].findLast(({ stream }) => stream.isOpen())
    const stream = standing?.isOpen() === true ? standing : post?.stream
    if (stream !== undefined) return stream.write(message)
    const { length } = JSON.stringify(message)
    if (early.length < MOST_WAITING && earlyBytes + length <= MOST_WAITING_BYTES) {
      early.push(message)
      earlyBytes += length
    }
    return undefined
  }
  const answer = (post: PostStream, answered: MessageId, message: Fields): Promise<void> | undefined => {
    const slow = post.stream.write(message)
    post.ids.delete(answered)
    if (post.ids.size === 0) {
      posts.delete(post)
      post.stream.end()
    }
    return slow
  }
  const connection: Connection = await open((message) => {
    const { id: answered, method } = message
    if (method === undefined && isId(answered)) {
      const post = [...posts].find(({ ids }) => ids.has(answered))
      return post === undefined ? undefined : answer(post, answered, message)
    }
    const token = method === METHODS.progress ? paramsOf({ fields: message })['progressToken'] : undefined
    const post = token === undefined ? undefined : [...posts].find(({ tokens }) => tokens.has(token))
    return post?.stream.isOpen() === true ? post.stream.write(message) : sendUnrelated(message)
  })
  return {
    id,
    ask: (text, messages, response) => {
      const requests = messages.filter((message) => message.kind === 'request')
      const tokens = requests
        .map((request) => progressTokenOf(paramsOf(request)))
        .filter((token) => token !== undefined)
      const stream = openMessageStream(response, { [SESSION_HEADER]: id })
      posts.add({ stream, ids: new Set(requests.map((request) => request.id)), tokens: new Set(tokens) })
      connection.take(text)
    },
    tell: connection.take,
    listen: (response) => {
      if (standing?.isOpen() === true) return false
      standing = openMessageStream(response, { [SESSION_HEADER]: id })
      const waiting = early
      early = []
      earlyBytes = 0
      for (const message of waiting) void standing.write(message)
      return true
    },
    isIdle: () => standing?.isOpen() !== true && ![...posts].some(({ stream }) => stream.isOpen()),
    close: async () => {
      standing?.end()
      for (const { stream } of posts) stream.end()
      await connection.close()
    },
  }
}

/** Whether a message begins a session. */
export const begins = (message: Message): boolean =>
  message.kind === 'request' &&
  message.method === METHODS.initialize &&
  !('_meta' in fieldsOf(message.fields['params']))

/** One client of a gateway. */
export interface Connection {
  /** Takes one line of the client. */
  readonly take: (line: string) => void
  readonly close: () => Promise<void>
}

export type OpenConnection = (send: SendToClient) => Promise<Connection>
