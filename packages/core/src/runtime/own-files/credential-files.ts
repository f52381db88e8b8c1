// The files that hold the values of credentials. secret-settings.ts keeps variables from tools.
import { basename, join, resolve } from 'node:path'

import type { SecretSource } from '../../egress/index.js'
import { statusAt } from '../../platform/index.js'
import { lookUp } from '../../sandbox/index.js'

import type { OwnFile } from './own-file.js'

export interface CredentialPlaces {
  /** Where relative paths begin. */
  readonly folder: string
  readonly home: string
  /** Where programs are looked up. */
  readonly searchPath: string | undefined
}

export const credentialFiles = (
  sources: ReadonlyMap<string, SecretSource>,
  places: CredentialPlaces,
): readonly OwnFile[] =>
  [...sources].flatMap(([id, source]) =>
    filesOf(source, places).map((path) => ({
      path,
      access: 'withheld' as const,
      what: `what the credential "${id}" is read from`,
      fix:
        'grant something else, or keep the value elsewhere: the proxy puts it into requests, and no tool needs ' +
        'the file',
    })),
  )

const filesOf = (source: SecretSource, { folder, home, searchPath }: CredentialPlaces): readonly string[] => {
  switch (source.kind) {
    case 'file':
      return [resolve(folder, source.path)].filter((path) => kindOf(path) !== 'other')
    case 'command': {
      const [program = '', ...words] = source.argv
      const found = program.includes('/') ? resolve(folder, program) : lookUp(program, searchPath ?? '')
      // The program runs outside of every cell, so no tool may change it or its files.
      return [
        ...(found === undefined ? [] : [found]),
        ...words
          .flatMap(pathsIn)
          .map((word) => resolve(folder, word))
          .filter((path) => isFile(path, folder)),
        ...(basename(program) === VAULT ? [join(home, VAULT_TOKEN)] : []),
      ]
    }
    case 'vault':
      return [join(home, VAULT_TOKEN)]
    case 'environment':
    case 'keyring':
    case 'store':
    case 'given':
    // In the state folder, which no tool reaches.
    case 'login':
      return []
  }
}

const VAULT = 'vault'
/** Where Vault's own program keeps its token. */
const VAULT_TOKEN = '.vault-token'

/** A word, and its part after `=` or `@`: --file=PATH, @PATH. */
const pathsIn = (word: string): readonly string[] =>
  [word, word.slice(word.indexOf('=') + 1), word.slice(word.lastIndexOf('@') + 1)].filter(
    (path, at, all) => path !== '' && all.indexOf(path) === at,
  )

/** A tool cannot read the value from a pipe or device (`other`) a second time. */
const kindOf = (path: string): 'file' | 'folder' | 'none' | 'other' => {
  const found = statusAt(path)
  return found === undefined ? 'none' : found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other'
}

/** The command may read a folder beneath this one. This folder, and those above it, hold everything else too. */
const isFile = (path: string, folder: string): boolean => {
  const kind = kindOf(path)
  return kind === 'file' || (kind === 'folder' && path.startsWith(`${folder}/`))
}
