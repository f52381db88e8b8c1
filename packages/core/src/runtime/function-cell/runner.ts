// Runs inside a cell: loads one function, waits, calls it once, ends. The function can take over this process. Only the
// boundary around the process confines it.
import { closeSync, writeSync } from 'node:fs'
import { format } from 'node:util'

import { createMessageReader, encodeMessage, encodeOutput, encodeWritten } from './messages.js'
import type { CallMessage, FunctionOrigin, MessageToCell, OutputStream, ThrownError } from './messages.js'

type ToolFunction = (input: unknown, context: Readonly<Record<string, unknown>>) => unknown

const LARGEST_MESSAGE = 256 * 1024 * 1024
// The runtime refuses larger messages of these kinds (function-reply.ts).
const LONGEST_TEXT = 64 * 1024
const LONGEST_OF_ERROR = 8 * 1024
const STDOUT = 1

const send = (message: Parameters<typeof encodeMessage>[0]): void => {
  write(encodeMessage(message))
}

const write = (bytes: Buffer): void => {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += writeSync(STDOUT, bytes, sent)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

const writeOutput = (stream: OutputStream, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.byteLength; at += LONGEST_TEXT)
    write(encodeOutput(stream, bytes.subarray(at, at + LONGEST_TEXT)))
}

/** The streams carry messages, so the tool's output becomes messages too. */
const redirectPrinting = (): void => {
  for (const [stream, object] of [
    ['stdout', process.stdout],
    ['stderr', process.stderr],
  ] as const) {
    const write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      for (let at = 0; at < text.length; at += LONGEST_TEXT)
        send({ kind: 'text', stream, text: text.slice(at, at + LONGEST_TEXT) })
      const callback = rest.find((each) => typeof each === 'function') as (() => void) | undefined
      callback?.()
      return true
    }
    Object.defineProperty(object, 'write', { value: write, writable: true, configurable: true })
  }
}

const load = async (from: FunctionOrigin): Promise<ToolFunction> => {
  if (from.kind === 'module') {
    const module = (await import(from.url)) as Readonly<Record<string, unknown>>
    const { [from.name]: exported } = module
    if (typeof exported === 'function') return exported as ToolFunction
    const names = Object.keys(module).join(', ') || 'nothing'
    throw new TypeError(`the module has no function "${from.name}"; it exports ${short(names)}`)
  }
  // Loaded only here, because every other call would wait for it too.
  if (from.kind === 'wasm') return (await import('./wasm.js')).loadWasm(from, writeOutput)
  // The source is the tool's own, and this process is its cell.
  const loaded: unknown = (0, eval)(`(${from.source})`)
  if (typeof loaded !== 'function') throw new TypeError('the source is not a function')
  return loaded as ToolFunction
}

/** Returns the result as JSON. */
const call = async (run: ToolFunction, { input, callId, session }: CallMessage): Promise<string> => {
  const progress = (value: unknown) => {
    write(encodeWritten('progress', jsonOf(value)))
  }
  const logAs = (level: string) => (message: unknown, data?: unknown) => {
    send({
      kind: 'log',
      level,
      message: String(message).slice(0, LONGEST_OF_ERROR),
      ...(data === undefined ? {} : { data }),
    })
  }
  const logger = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') }
  // The signal is never aborted: the cell is killed.
  const result = await run(input, { progress, callId, session, logger, signal: new AbortController().signal })
  if (!isAsyncIterable(result)) return jsonOf(result)
  // A generator streams its progress and returns its result.
  const iterator = result[Symbol.asyncIterator]() as AsyncIterator<unknown, unknown>
  for (let next = await iterator.next(); ; next = await iterator.next()) {
    if (next.done === true) return jsonOf(next.value)
    progress(next.value)
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** Throws for a value that JSON cannot carry. JSON.stringify would make `{}` of a map, and null of NaN. */
const jsonOf = (value: unknown): string => {
  const text = JSON.stringify(value, carried) as string | undefined
  return text ?? 'null'
}

function carried(this: unknown, key: string, value: unknown): unknown {
  const problem = problemOf(value)
  if (problem === undefined) return value
  throw new TypeError(`${key === '' ? 'the result' : `"${key}" of the result`} is ${problem}, which JSON cannot carry`)
}

const problemOf = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value)
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  // Plain objects of another realm have another Object.prototype.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlain ? undefined : `an object of the class ${value.constructor.name}`
}

const thrown = (error: unknown): ThrownError => {
  if (!(error instanceof Error)) return { name: 'Error', message: short(format('%s', error)), stack: '' }
  return { name: short(error.name), message: short(error.message), stack: short(error.stack ?? '') }
}

const short = (text: string): string => (text.length > LONGEST_OF_ERROR ? `${text.slice(0, LONGEST_OF_ERROR)}…` : text)

/** Kills this process, because Node's own exit takes longer than most calls. The closed output tells the supervisor. */
const end = (message: Buffer): void => {
  write(message)
  closeSync(STDOUT)
  process.kill(process.pid, 'SIGKILL')
}

const fail = (error: unknown): void => {
  end(encodeMessage({ kind: 'thrown', error: thrown(error) }))
}

let loading: Promise<ToolFunction> | undefined

const onMessage = (message: MessageToCell): void => {
  if (message.kind === 'load') {
    loading = load(message.from)
    loading.then(() => {
      send({ kind: 'loaded' })
    }, fail)
    return
  }
  loading
    ?.then((run) => call(run, message))
    .then((value) => {
      end(encodeWritten('value', value))
    }, fail)
}

// The closed output tells the supervisor, which kills the process. So a code of the tool's own has to be told.
process.on('exit', (code) => {
  end(encodeMessage({ kind: 'exited', code }))
})
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)
redirectPrinting()
process.stdin.on(
  'data',
  createMessageReader<MessageToCell['kind']>({
    largest: { load: LARGEST_MESSAGE, call: LARGEST_MESSAGE },
    onMessage: (kind, json) => {
      onMessage({ kind, ...(JSON.parse(json.toString('utf8')) as object) } as MessageToCell)
    },
    onTooLarge: (kind, bytes) => {
      fail(new Error(`a message of the kind "${kind}" has ${bytes} bytes, and may have ${LARGEST_MESSAGE}`))
    },
  }),
)
