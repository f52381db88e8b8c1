// Processes the output of a tool in several turns of the event loop, so that other calls go on.
import { StringDecoder } from 'node:string_decoder'

import { bug } from '../../errors/index.js'
import { sizeInSteps, takeSnapshot } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Computes hash and size of a result, which are cached. */
export const sizeInTurns = async (value: JsonValue): Promise<void> => {
  const steps = sizeInSteps(value)
  while (steps.next().done !== true) await nextTurn()
}

const PIECE_BYTES = 256 * 1024

const textInTurns = async (bytes: Uint8Array, encoding: 'utf8' | 'base64'): Promise<string> => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (whole.length <= PIECE_BYTES) return whole.toString(encoding)
  // A character may lie across two pieces.
  const decoder = new StringDecoder(encoding)
  const pieces: string[] = []
  for (let at = 0; at < whole.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn()
    pieces.push(decoder.write(whole.subarray(at, at + PIECE_BYTES)))
  }
  return [...pieces, decoder.end()].join('')
}

/** A smaller output is hashed when it is recorded. */
const SMALL_BYTES = 64 * 1024

/** The output of a program as a value. */
export const outputInTurns = async (
  exitCode: number | null,
  { stdout, stderr }: { readonly stdout: Uint8Array; readonly stderr: Uint8Array },
  encoding: 'utf8' | 'base64' = 'utf8',
): Promise<JsonValue> => {
  const texts = { stdout: await textInTurns(stdout, encoding), stderr: await textInTurns(stderr, encoding) }
  const taken = takeSnapshot({ exit_code: exitCode, ...texts })
  const output = taken.kind === 'json' ? taken.value : bug('decoded texts that are no JSON')
  if (stdout.byteLength + stderr.byteLength > SMALL_BYTES) await sizeInTurns(output)
  return output
}
