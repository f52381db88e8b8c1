// Where git is sent by what a repository holds: another folder of hooks, another configuration, a repository elsewhere.
// Whoever can write there needs no `.git/hooks`, so it is sealed with it.
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

import type { AbsolutePath } from '../policy/index.js'

import { pathFor } from './file-names.js'
import { placeAt, realPathOf } from './object-at.js'
import type { Place } from './object-at.js'
import type { FoundName } from './scout.js'

const LARGEST = 1 << 20
const MOST_REMEMBERED = 1_000

interface Redirects {
  readonly of: (found: readonly FoundName[]) => readonly Place[]
}

/** Remembers what a file said for as long as it is the same file, because it is asked before every call. */
export const createRedirects = (): Redirects => {
  const remembered = new Map<string, { readonly state: string; readonly paths: readonly string[] }>()
  const pathsIn = (file: AbsolutePath, read: (text: string, file: string) => readonly string[]): readonly string[] => {
    const state = stateOf(file)
    const known = remembered.get(file)
    if (state === undefined) return []
    if (known?.state === state) return known.paths
    const paths = read(textOf(file), file)
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(file, { state, paths })
    return paths
  }
  return {
    of: (found) => {
      const paths = found.flatMap(({ path, object }) => {
        if (object !== 'file') return []
        if (basename(path) === '.git') return pathsIn(path, partsElsewhere)
        return path.endsWith('/.git/config') || path.endsWith('/.git/config.worktree') ? pathsIn(path, namedByConfig) : []
      })
      return [...new Set(paths)].flatMap((path) => {
        const real = realPathOf(path)
        return real === undefined ? [] : placeAt(real)
      })
    },
  }
}

const stateOf = (file: AbsolutePath): string | undefined => {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(pathFor(file))
    return size > LARGEST ? undefined : [dev, ino, size, mtimeMs, ctimeMs].join()
  } catch {
    return undefined
  }
}

const textOf = (file: AbsolutePath): string => {
  try {
    return readFileSync(pathFor(file), 'utf8')
  } catch {
    return ''
  }
}

const PARTS = ['hooks', 'config', 'config.worktree', 'commondir', 'modules', 'worktrees']

/** A `.git` that is a file says where the repository is: what git runs lies there, or in the one that it shares. */
const partsElsewhere = (text: string, file: string): readonly string[] => {
  const [, named] = /^gitdir: (.+)/.exec(text) ?? []
  if (named === undefined) return []
  const repository = resolve(dirname(file), named.trimEnd())
  const shared = textOf(`${repository}/commondir` as AbsolutePath).trimEnd()
  const repositories = shared === '' ? [repository] : [repository, resolve(repository, shared)]
  return repositories.flatMap((folder) => PARTS.map((part) => `${folder}/${part}`))
}

/** Folders of hooks are named from the work tree or, by those who err, from the repository; included files from the file itself. */
const namedByConfig = (text: string, file: string): readonly string[] =>
  settingsIn(text).flatMap(({ section, key, value }) => {
    const repository = dirname(file)
    if (section === 'core' && key === 'hookspath') return [resolve(dirname(repository), value), resolve(repository, value)]
    return (section === 'include' || section === 'includeif') && key === 'path' ? [resolve(repository, value)] : []
  })

interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
}

const settingsIn = (text: string): readonly Setting[] => {
  let section = ''
  return text.replaceAll(/\\\r?\n/g, '').split('\n').flatMap((line) => {
    const [, name, rest = line] = /^\s*\[\s*([\w.-]+)[^\]]*\](.*)/.exec(line) ?? []
    section = name?.toLowerCase() ?? section
    const [, key, value = ''] = /^\s*([\w-]+)\s*=\s*(.*)/.exec(rest) ?? []
    return key === undefined ? [] : [{ section, key: key.toLowerCase(), value: plain(value) }]
  })
}

/** Without quotes, escapes and comments. */
const plain = (value: string): string => {
  const words = [...value.matchAll(/"((?:[^"\\]|\\.)*)"|([^"#;]+)|[#;].*/g)].map(([, quoted, bare]) => quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '')
  return words.join('').trim()
}
