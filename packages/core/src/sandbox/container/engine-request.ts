// HTTP to a container engine over its unix socket, with the part of Docker's API that Docker and Podman share.
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

import { CordonError, fail, messageOf } from '../../errors/index.js'

/** Understood by Docker since 20.10, and by Podman since 3. */
const API = '/v1.41'
const ANSWER_MS = 60_000
const LARGEST_ANSWER = 16 * 1024 * 1024

export interface EngineRequest {
  readonly socket: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
}

interface EngineAnswer {
  readonly status: number
  /** Undefined if it is no JSON. */
  readonly value: unknown
}

/** Sends a request and reads its whole answer. The status is the caller's to judge. */
export const askEngine = (asked: EngineRequest): Promise<EngineAnswer> =>
  new Promise((resolve, reject) => {
    const sent = begin(asked, {}, reject)
    sent.on('response', (answer) => {
      readWhole(answer).then(
        (text) => {
          resolve({ status: answer.statusCode ?? 0, value: jsonIn(text) })
        },
        (error: unknown) => {
          reject(error instanceof CordonError ? error : unreachable(asked, error))
        },
      )
    })
    // Nobody asked for it. Without a listener Node closes the connection, and no other event follows.
    sent.on('upgrade', (_, connection) => {
      connection.destroy()
      reject(refusalOfEngine(asked, { status: 101, value: undefined }))
    })
  })

/** The same, for an answer that has to be a success. */
export const expectEngine = async (asked: EngineRequest): Promise<EngineAnswer> => {
  const answer = await askEngine(asked)
  if (!isSuccess(answer)) throw refusalOfEngine(asked, answer)
  return answer
}

export const isSuccess = ({ status }: EngineAnswer): boolean => (status >= 200 && status < 300) || status === 304

/** The connection as a raw stream, after the engine agreed to it. */
export const hijackEngine = (asked: EngineRequest): Promise<{ readonly connection: Socket; readonly first: Buffer }> =>
  new Promise((resolve, reject) => {
    const sent = begin(asked, { Connection: 'Upgrade', Upgrade: 'tcp' }, reject)
    sent.on('upgrade', (_, connection, first) => {
      connection.setTimeout(0)
      resolve({ connection, first })
    })
    sent.on('response', (answer) => {
      readWhole(answer).then((text) => {
        reject(refusalOfEngine(asked, { status: answer.statusCode ?? 0, value: jsonIn(text) }))
      }, reject)
    })
  })

export const refusalOfEngine = ({ method, path }: EngineRequest, { status, value }: EngineAnswer): CordonError =>
  fail('container-engine-refused', {
    request: `${method} ${path.replace(/\?.*/, '')}`,
    problem: problemIn(status, value),
  })

const unreachable = ({ socket }: EngineRequest, error: unknown): CordonError =>
  fail('container-engine-unreachable', { socket, problem: messageOf(error) }, error)

const begin = (
  asked: EngineRequest,
  headers: Readonly<Record<string, string>>,
  onError: (error: CordonError) => void,
) => {
  const { socket, method, path, body } = asked
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent = request({
    socketPath: socket,
    method,
    path: `${API}${path}`,
    agent: false,
    timeout: ANSWER_MS,
    headers: {
      Host: 'engine',
      ...headers,
      ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    },
  })
  sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
  sent.on('error', (error) => {
    onError(unreachable(asked, error))
  })
  sent.end(text)
  return sent
}

const readWhole = async (answer: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > LARGEST_ANSWER) throw fail('container-engine-refused', { request: 'an answer', problem: 'too long' })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** Undefined if it is no JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const problemIn = (status: number, value: unknown): string => {
  const message = (value as { readonly message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message.slice(0, 500) : `HTTP status ${status}`
}

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []
