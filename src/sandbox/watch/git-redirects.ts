// Where a repository redirects git: another folder of hooks, another configuration, another repository.
// Whoever can write there needs no `.git/hooks`, so it is sealed with it.
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { PROTECTED_NAMES, parentOf } from '../../policy/index.js'

import { futurePathOf } from '../grants/carve-outs.js'
import { pathFor } from '../grants/file-names.js'
import { objectAt, placeAt, realPathOf } from '../grants/object-at.js'
import type { Place } from '../grants/object-at.js'
import type { FoundName } from './watcher.js'

const LARGEST = 16 << 20
const MOST_REMEMBERED = 1_000
/** As git itself. */
const DEEPEST_INCLUDE = 10

export interface Redirects {
  /** For the names found in write roots, and for the repositories that these roots lie in. */
  readonly of: (found: readonly FoundName[], roots: readonly AbsolutePath[]) => Redirected
}

export interface Redirected {
  readonly places: readonly Place[]
  /** Where git would look, and nothing is yet. */
  readonly missing: readonly AbsolutePath[]
}

export const createRedirects = (): Redirects => {
  const files: GitFiles = {
    text: rememberRead((text) => text.trimEnd(), ''),
    redirections: rememberRead(redirectionsIn, []),
  }
  return {
    of: (found, roots) => {
      const inside = found
        .filter(({ path }) => path.endsWith('/.git') || path.endsWith('/.git/config'))
        .map(({ path }) => (basename(path) === '.git' ? path : parentOf(path)))
      const entries = new Set<AbsolutePath>([...inside, ...roots.flatMap(repositoryAround)])
      const paths = new Set([...entries].flatMap((entry) => redirectedBy(entry, files)))
      const real = [...paths].map((path) => ({ path: path as AbsolutePath, place: realPathOf(path) }))
      return {
        places: real.flatMap(({ place }) => (place === undefined ? [] : placeAt(place))),
        missing: real.flatMap(({ path, place }) => (place === undefined ? [futurePathOf(path)] : [])),
      }
    },
  }
}

/** What is read of a repository; nothing of a file that is not there. */
interface GitFiles {
  readonly text: (file: string) => string
  readonly redirections: (file: string) => readonly Setting[]
}

/** Remembers what a file said for as long as it is the same file, because it is asked before every call. */
const rememberRead = <Value>(parse: (text: string) => Value, nothing: Value): ((file: string) => Value) => {
  const remembered = new Map<string, { readonly state: string; readonly value: Value }>()
  return (file) => {
    const state = stateOf(file)
    const known = remembered.get(file)
    if (state === undefined) return nothing
    if (known?.state === state) return known.value
    const value = parse(textOf(file))
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(file, { state, value })
    return value
  }
}

const stateOf = (file: string): string | undefined => {
  try {
    const status = statSync(pathFor(file))
    if (!status.isFile()) return undefined
    if (status.size > LARGEST)
      throw fail('plan-rejected', {
        problem:
          `${file} is larger than a configuration of git can be (${String(LARGEST >> 20)}M), so nobody knows ` +
          'what it names',
      })
    return [status.dev, status.ino, status.size, status.mtimeMs, status.ctimeMs].join()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return undefined
  }
}

const textOf = (file: string): string => {
  try {
    return readFileSync(pathFor(file), 'utf8')
  } catch {
    return ''
  }
}

/** The `.git` of the work tree that a write root is a part of. */
const repositoryAround = (root: AbsolutePath): readonly AbsolutePath[] => {
  for (let folder = root; folder !== '/'; folder = parentOf(folder)) {
    const entry = `${folder === '/' ? '' : folder}/.git` as AbsolutePath
    if (folder !== root && objectAt(entry) !== undefined) return [entry]
  }
  return []
}

const PARTS = PROTECTED_NAMES.filter(({ name }) => name.startsWith('.git/')).map(({ name }) =>
  name.slice('.git/'.length),
)

/** `entry`: a `.git`, whether it is the repository, a file that says where that is, or a link to one of these. */
const redirectedBy = (entry: AbsolutePath, files: GitFiles): readonly string[] => {
  const tree = parentOf(entry)
  const named = /^gitdir: (.+)/.exec(files.text(entry))?.[1]?.trimEnd()
  const repository = named === undefined ? entry : resolve(tree, named)
  const shared = files.text(`${repository}/commondir`)
  const repositories = shared === '' ? [repository] : [repository, resolve(repository, shared)]
  // Of the plain repository the names themselves are protected already.
  const parts =
    named === undefined && shared === ''
      ? []
      : repositories.flatMap((folder) => PARTS.map((part) => `${folder}/${part}`))
  const configs = repositories.flatMap((folder) => [`${folder}/config`, `${folder}/config.worktree`])
  return [...parts, ...configs.flatMap((config) => namedByConfig(config, { tree, repository }, files, DEEPEST_INCLUDE))]
}

interface Where {
  readonly tree: string
  readonly repository: string
}

/**
 * Folders of hooks are named from the work tree or, by those who err, from the repository; included files from the file
 * itself.
 */
const namedByConfig = (config: string, where: Where, files: GitFiles, depth: number): readonly string[] =>
  files.redirections(config).flatMap(({ section, value }) => {
    if (section === 'core') return [from(where.tree, value), from(where.repository, value)]
    const included = from(dirname(config), value)
    return depth === 0 ? [included] : [included, ...namedByConfig(included, where, files, depth - 1)]
  })

const from = (folder: string, value: string): string => resolve(folder, value.replace(/^~(?=\/|$)/, homedir()))

interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** `core.hooksPath`, and what is included; where they name something. */
const redirectionsIn = (text: string): readonly Setting[] =>
  settingsIn(text).filter(
    ({ section, key, value }) =>
      value !== '' &&
      ((section === 'core' && key === 'hookspath') ||
        ((section === 'include' || section === 'includeif') && key === 'path')),
  )

const settingsIn = (text: string): readonly Setting[] => {
  let section = ''
  return text
    .replaceAll(/\\\r?\n/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, name, rest = line] = /^\s*\[\s*([\w.-]+)(?![\w.-])[^\]]*\](.*)/.exec(line) ?? []
      section = name?.toLowerCase() ?? section
      const [, key, value = ''] = /^\s*([\w-]+)\s*=\s*(.*)/.exec(rest) ?? []
      return key === undefined ? [] : [{ section, key: key.toLowerCase(), value: plain(value) }]
    })
}

/** Without quotes, escapes and comments. */
const plain = (value: string): string => {
  const words = [...value.matchAll(/"((?:[^"\\]|\\.)*)(?:"|\\?$)|([^"#;]+)|[#;].*/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '',
  )
  return words.join('').trim()
}
