// The key that credentials in a store are sealed with.
import { readFileSync, statSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { parseSealingKey } from '../../store/index.js'

import type { CommandLine } from '../command-line.js'

/** Undefined where nobody named one. */
export const sealingKeyOf = (file: string | undefined, environment: CommandLine['environment']): Buffer | undefined => {
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
