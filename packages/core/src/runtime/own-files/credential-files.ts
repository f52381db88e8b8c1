// The files that hold the values of credentials. secret-settings.ts keeps variables from tools.
import { basename, delimiter, join, resolve } from 'node:path'

import type { SecretSource } from '../../egress/index.js'
import { statusAt } from '../../platform/index.js'
import { lookUp } from '../../sandbox/index.js'

import type { OwnFile } from './own-file.js'

export interface CredentialPlaces {
  readonly workspace: string
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
      // The program of the keyring belongs to the system, and tools may need it.
      access: source.kind === 'keyring' ? ('read-only' as const) : ('withheld' as const),
      what: `what the credential "${id}" is read from`,
      fix:
        'grant something else, or keep the value elsewhere: the proxy puts it into requests, and no tool needs ' +
        'the file',
    })),
  )

const filesOf = (
  source: SecretSource,
  { workspace, home, searchPath = USUAL_PATH }: CredentialPlaces,
): readonly string[] => {
  switch (source.kind) {
    case 'file':
      return [source.path].filter((path) => kindOf(path) !== 'other')
    case 'command': {
      const { argv, folder } = source
      const [program = '', ...words] = argv
      // The program runs outside of every cell, so no tool may change it or its files.
      return [
        ...placesOf(program, searchPath, folder),
        ...words
          .flatMap(pathsIn)
          .map((word) => resolve(folder, word))
          .filter((path) => isSource(path, [workspace, home, folder])),
        ...(basename(program) === VAULT ? [join(home, VAULT_TOKEN)] : []),
      ]
    }
    case 'vault':
      return [join(home, VAULT_TOKEN)]
    case 'keyring':
      return placesOf(KEYRING, searchPath, '/')
    case 'environment':
    case 'store':
    case 'given':
    // In the state folder, which no tool reaches.
    case 'login':
      return []
  }
}

/** The program, and where it would be found before: no tool may make it there. */
const placesOf = (program: string, searchPath: string, folder: string): readonly string[] => {
  if (program.includes('/')) return [program]
  const folders = searchPath.split(delimiter).map((each) => resolve(folder, each))
  const found = folders.findIndex((each) => lookUp(program, each) !== undefined)
  return folders.slice(0, found < 0 ? folders.length : found + 1).map((each) => join(each, program))
}

/** Without PATH. */
const USUAL_PATH = '/usr/bin:/bin'
const KEYRING = 'secret-tool'
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

/**
 * A file, or a folder beneath one of these: the project, the home, where the command runs. Those themselves, and what
 * holds one of them, hold everything else too.
 */
const isSource = (path: string, roots: readonly string[]): boolean => {
  const kind = kindOf(path)
  const isIn = (one: string, other: string): boolean => other !== '/' && one.startsWith(`${other}/`)
  return (
    kind === 'file' ||
    (kind === 'folder' &&
      roots.some((root) => isIn(path, root)) &&
      !roots.some((root) => root === path || isIn(root, path)))
  )
}
