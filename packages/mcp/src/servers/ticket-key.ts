// The key of tickets for calls that wait for an approval, and the folder that marks used ones. Both are kept, so that a
// client can answer after the gateway was started again.
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { codeOf } from 'cordon/errors'
import { makeFolders } from 'cordon/runtime'
import type { CordonOptions } from 'cordon'

const KEY_BYTES = 32

/** `folder`: out of reach of tools. */
export const ticketsIn = (folder: string): NonNullable<CordonOptions['tickets']> => {
  makeFolders(folder, 0o700)
  const path = join(folder, 'key')
  const found = readIfThere(path)
  return { key: found ?? makeKey(path), folder: join(folder, 'used') }
}

const readIfThere = (path: string): Uint8Array | undefined => {
  try {
    return readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Of two gateways that start at once, one makes the key. */
const makeKey = (path: string): Uint8Array => {
  const own = `${path}.${process.pid}`
  writeFileSync(own, randomBytes(KEY_BYTES), { mode: 0o600 })
  try {
    linkSync(own, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
  return readFileSync(path)
}
