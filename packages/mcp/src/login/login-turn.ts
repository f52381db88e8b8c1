// One process at a time changes a login: logs in, renews its token or logs out.
import { dirname } from 'node:path'

import { reasonOf } from 'cordon/errors'
import { makeFolders, takeLock } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { pathOfLogin } from './login-files.js'
import type { KeptLogin } from './login-files.js'

export const inTurn = async <Result>(
  folder: string,
  login: Pick<KeptLogin, 'issuer' | 'resource'>,
  act: () => Result | Promise<Result>,
): Promise<Result> => {
  const path = pathOfLogin(folder, login)
  const done = await begin(path)
  try {
    return await act()
  } finally {
    done()
  }
}

const begin = async (path: string): Promise<() => void> => {
  try {
    makeFolders(dirname(path), 0o700)
    return await takeLock(`${path}.lock`)
  } catch (error) {
    throw fail('login-unwritable', { path, problem: reasonOf(error) })
  }
}
