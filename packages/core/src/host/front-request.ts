// What a front sends: texts that each end with a NUL (native/front/request.c).
import { parseAbsolutePath } from '../policy/index.js'

import { pathOf } from '../line/caller.js'
import type { Caller } from '../line/caller.js'

export interface FrontRequest {
  readonly caller: Caller
  /** After the name of the program. */
  readonly words: readonly string[]
  /** Its job gets the keys of its terminal, or has no terminal. */
  readonly isInForeground: boolean
  /** A person could be asked at its terminal. */
  readonly isInteractive: boolean
}

/** Undefined for bytes that are no texts, which a host would not pass on as they are. */
export const readRequest = (payload: Uint8Array): FrontRequest | undefined => {
  const texts = textsIn(payload)
  if (texts === undefined) return undefined
  let at = 0
  const next = (): string => texts[at++] ?? ''
  const list = (): readonly string[] => Array.from({ length: Math.min(Number(next()), texts.length) }, next)
  const folder = parseAbsolutePath(next(), 'the folder of the caller')
  const streams = next()
  const [called = '', ...words] = list()
  // Of two with one name a program gets the first.
  const environment = Object.fromEntries(list().map(variableIn).toReversed())
  const has = (letter: string): boolean => streams.includes(letter)
  const terminals = { in: has('i'), out: has('o'), err: has('e') }
  const startedAs = pathOf(called, environment, folder)
  return {
    caller: { environment, folder: () => folder, startedAs, isFronted: true, terminals, isPiped: has('p') },
    words,
    isInForeground: has('f'),
    isInteractive: (terminals.in || terminals.out || terminals.err) && has('f') && has('t'),
  }
}

const textsIn = (payload: Uint8Array): readonly string[] | undefined => {
  try {
    return new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(payload).split('\0')
  } catch {
    return undefined
  }
}

const variableIn = (text: string): readonly [string, string] => {
  const equals = text.indexOf('=', 1)
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
}
