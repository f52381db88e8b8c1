// Own files of a command line: Cordon reads or writes them, so tools get no access or may only read.
import { resolve } from 'node:path'

import { engineFiles, namedFiles, userFiles } from '../runtime/own-files/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'

import type { Environment } from '../line/arguments.js'

const UNIX = 'unix:'

/** Those of the user's folders and variables. */
export const ownFilesOf = (environment: Environment, home: string): readonly OwnFile[] => {
  const {
    CORDON_KEY_FILE: key = '',
    CORDON_TOKEN_FILE: token = '',
    CORDON_STORE: store = '',
    CORDON_SERVER: server = '',
  } = environment
  const named = [
    [key, 'the key that credentials of a store are sealed with'],
    [token, 'a token for the registry'],
    [store, 'the store in which calls are approved'],
    [server.startsWith(UNIX) ? server.slice(UNIX.length) : '', 'the socket of the registry'],
  ] as const
  return [
    ...userFiles(environment, home),
    ...engineFiles(environment),
    ...named.filter(([path]) => path !== '').map(([path, what]) => withheld(path, what)),
  ]
}

export const withheld = (path: string, what: string): OwnFile => ({
  path: resolve(path),
  access: 'withheld',
  what,
  fix: 'grant something else, or move it',
})

/** Files named on the command line. */
export const readOnly = (paths: readonly (string | undefined)[], what: string): readonly OwnFile[] =>
  namedFiles(
    paths.flatMap((path) => (path === undefined ? [] : [resolve(path)])),
    what,
  )
