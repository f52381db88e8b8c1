// Reads the key for sealed credentials of a store.
import { readFileSync, statSync } from 'node:fs'
import type { Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { parseSealingKey } from '../store/index.js'

/** Undefined if none is named. */
export const sealingKeyOf = (file: string | undefined, environment: Environment): Buffer | undefined => {
  const path = file ?? environment['CORDON_KEY_FILE']
  if (path === undefined || path === '') return undefined
  const problem = (text: string, error?: unknown) => fail('sealing-key-invalid', { problem: text }, error)
  let text: string
  try {
    const { mode } = statSync(path)
    if ((mode & 0o077) !== 0) throw problem(`${path} can be read by others`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw problem(`${path} cannot be read: ${error.message}`, error)
    throw error
  }
  return parseSealingKey(text, path)
}
