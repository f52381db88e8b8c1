// Reads the messages of a function tool's process. The tool may send anything, so each message is measured before it is
// read, and is treated as data only.
import { messageOf } from '../../errors/index.js'
import { readBoundedJson, sizeOf } from '../../gate/index.js'
import type { BoundedJson, JsonLimits, JsonValue } from '../../gate/index.js'

import { isMapping } from '../../shapes/index.js'

import type { PermittedCall } from '../call/call-services.js'
import { createMessageReader } from '../function-cell/messages.js'
import type { MessageFromCell, OutputStream, ThrownError } from '../function-cell/messages.js'
import { nextTurn, sizeInTurns } from '../result/in-turns.js'
import { PROGRESS_LIMITS } from '../result/result-limits.js'
import { LOG_LEVELS, renderLog } from '../result/tool-result.js'
import type { ToolLog } from '../result/tool-result.js'

type Answer =
  | { readonly kind: 'value'; readonly value: BoundedJson }
  /** `loaded`: false if its module failed to load. */
  | { readonly kind: 'thrown'; readonly error: ThrownError; readonly loaded: boolean }
  | { readonly kind: 'exited'; readonly code: number }

/** The output of a WASI module. */
export interface ModuleOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Bytes that there was no room for in a result. */
  readonly leftOut: number
}

export type FunctionReply = { readonly printed: string; readonly written: ModuleOutput } & (
  Answer | { readonly kind: 'nothing'; readonly problem: string | undefined }
)

export interface ReplyListener {
  readonly take: (bytes: Uint8Array) => void
  /** Large results are read in several turns of the event loop, so that other calls go on. */
  readonly end: () => Promise<FunctionReply>
}

const MOST_PRINTED = 1024 * 1024
const MOST_PROGRESS = 10_000
/** A smaller result is read at once. */
const SMALL_BYTES = 8 * 1024
/** The runner sends at most 64 Ki characters of text, and 8 Ki of each part of an error, each of six bytes in JSON. */
const LARGEST = {
  loaded: 1024,
  exited: 1024,
  text: 512 * 1024,
  stdout: 64 * 1024,
  stderr: 64 * 1024,
  thrown: 512 * 1024,
} as const

export const listenToFunction = (
  limits: JsonLimits,
  { onProgress, onLog }: Pick<PermittedCall, 'onProgress' | 'onLog'>,
): ReplyListener => {
  let printed = ''
  const written = keepWritten(limits.bytes)
  let loaded = false
  let answer: Answer | undefined
  let unread: Buffer | undefined
  let problem: string | undefined
  let messages = 0
  let progressTold = 0

  const print = (text: string): void => {
    // Text beyond the limit costs nothing: a tool may print very much in very small pieces.
    if (printed.length < MOST_PRINTED) printed += text.slice(0, MOST_PRINTED - printed.length)
  }
  const hasAnswered = (): boolean => answer !== undefined || unread !== undefined
  const onMessage = (kind: MessageFromCell['kind'], json: Buffer): void => {
    messages += 1
    switch (kind) {
      case 'loaded':
        loaded = true
        break
      case 'progress': {
        progressTold += 1
        if (progressTold === MOST_PROGRESS + 1) print(`[progress was left out after ${MOST_PROGRESS} messages]\n`)
        if (progressTold > MOST_PROGRESS) break
        const value = readBoundedJson(json, PROGRESS_LIMITS)
        if (value.kind === 'json') onProgress(value.value)
        else if (value.kind === 'too-large') print(`[progress was left out: ${value.problem}]\n`)
        break
      }
      case 'log': {
        progressTold += 1
        if (progressTold > MOST_PROGRESS) break
        const line = logIn(json)
        print(renderLog(line))
        onLog(line)
        break
      }
      case 'text':
        if (printed.length < MOST_PRINTED) print(textIn(json))
        break
      case 'stdout':
      case 'stderr':
        written.add(kind, json)
        break
      case 'value':
        if (hasAnswered()) break
        if (json.length > SMALL_BYTES) unread = json
        else answer = { kind, value: hashed(readBoundedJson(json, limits)) }
        break
      case 'thrown':
        if (!hasAnswered()) answer = { kind, error: errorIn(json), loaded }
        break
      case 'exited':
        if (!hasAnswered()) answer = { kind, code: codeIn(json) }
        break
    }
  }
  const read = createMessageReader<MessageFromCell['kind']>({
    largest: { ...LARGEST, progress: PROGRESS_LIMITS.bytes, log: PROGRESS_LIMITS.bytes, value: limits.bytes },
    onMessage,
    onTooLarge: (kind, bytes) => {
      if (kind === 'value' && !hasAnswered())
        answer = {
          kind,
          value: { kind: 'too-large', problem: `it has ${bytes} bytes, and may have ${limits.bytes}` },
        }
      else if (kind === 'thrown' && !hasAnswered()) answer = { kind, error: NO_ERROR, loaded }
      else print(`[a message of the kind "${kind}" with ${bytes} bytes was left out]\n`)
    },
  })
  const readSlice = (slice: Buffer): void => {
    if (problem !== undefined) return
    try {
      read(slice)
    } catch (error) {
      problem = messageOf(error)
    }
  }
  const paced = inSlices(readSlice, () => messages)
  return {
    take: (bytes) => {
      paced.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    },
    end: async () => {
      await paced.drained()
      if (unread !== undefined) {
        await nextTurn()
        const value = readBoundedJson(unread, limits)
        await nextTurn()
        if (value.kind === 'json') await sizeInTurns(value.value)
        return { kind: 'value', value, printed, written: written.all() }
      }
      const rest = { printed, written: written.all() }
      return answer === undefined ? { kind: 'nothing', problem, ...rest } : { ...answer, ...rest }
    },
  }
}

/** Keeps the first `most` bytes of both streams together. */
const keepWritten = (most: number) => {
  const kept: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] }
  let room = most
  let leftOut = 0
  return {
    add: (stream: OutputStream, bytes: Buffer): void => {
      const taken = Math.min(room, bytes.length)
      if (taken > 0) kept[stream].push(bytes.subarray(0, taken))
      room -= taken
      leftOut += bytes.length - taken
    },
    all: (): ModuleOutput => ({ stdout: Buffer.concat(kept.stdout), stderr: Buffer.concat(kept.stderr), leftOut }),
  }
}

const SLICE_BYTES = 1024
const MESSAGES_IN_A_TURN = 200

/** A tool may send millions of messages in one chunk. Other calls get a turn after some hundreds of them. */
const inSlices = (read: (slice: Buffer) => void, messagesSoFar: () => number) => {
  let waiting: Buffer[] = []
  let draining: Promise<void> | undefined
  /** Returns what is left for later turns. */
  const readSome = (chunks: Buffer[]): Buffer[] => {
    const most = messagesSoFar() + MESSAGES_IN_A_TURN
    for (const [index, bytes] of chunks.entries()) {
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        if (messagesSoFar() >= most) return [bytes.subarray(at), ...chunks.slice(index + 1)]
        read(bytes.subarray(at, at + SLICE_BYTES))
      }
    }
    return []
  }
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      await nextTurn()
      waiting = readSome(waiting)
    }
    draining = undefined
  }
  return {
    take: (bytes: Buffer): void => {
      if (draining === undefined) waiting = readSome([bytes])
      else waiting.push(bytes)
      if (waiting.length > 0) draining ??= drain()
    },
    drained: async (): Promise<void> => {
      await draining
    },
  }
}

/** Hashed while its process ends, which takes longer. */
const hashed = (read: BoundedJson): BoundedJson => {
  if (read.kind === 'json') sizeOf(read.value)
  return read
}

const fieldsIn = (json: Buffer, limits: JsonLimits): Readonly<Record<string, JsonValue>> => {
  const read = readBoundedJson(json, limits)
  return read.kind === 'json' && isMapping(read.value) ? read.value : {}
}

/** A few fields, each of them a text. */
const FLAT = { bytes: LARGEST.text, elements: 32, depth: 2 } as const

const textIn = (json: Buffer): string => {
  const { text } = fieldsIn(json, FLAT)
  return typeof text === 'string' ? text : ''
}

const logIn = (json: Buffer): ToolLog => {
  const { level, message, data } = fieldsIn(json, PROGRESS_LIMITS)
  return {
    level: LOG_LEVELS.find((each) => each === level) ?? 'info',
    message: typeof message === 'string' ? message : '',
    ...(data === undefined ? {} : { data }),
  }
}

const codeIn = (json: Buffer): number => {
  const { code } = fieldsIn(json, FLAT)
  return typeof code === 'number' ? code : 1
}

const NO_ERROR: ThrownError = { name: 'Error', message: 'it threw something that is no error', stack: '' }
const LONGEST_OF_ERROR = 8 * 1024 + 1

const errorIn = (json: Buffer): ThrownError => {
  const { error } = fieldsIn(json, FLAT)
  const text = (key: keyof ThrownError) => {
    const given = isMapping(error) ? error[key] : undefined
    return typeof given === 'string' ? given.slice(0, LONGEST_OF_ERROR) : NO_ERROR[key]
  }
  return { name: text('name'), message: text('message'), stack: text('stack') }
}
