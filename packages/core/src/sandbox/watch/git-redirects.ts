// The places to which a repository redirects git: another folder of hooks, another configuration, another repository. A
// tool that can write there does not need `.git/hooks`, so they are sealed too.
import { basename, dirname, resolve } from 'node:path'

import { fail } from '../../errors/index.js'
import { ifSeen, readOrdinaryFile, statSync } from '../../platform/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { PROTECTED_NAMES, parentOf } from '../../policy/index.js'

import { futurePathOf } from '../grants/carve-outs.js'
import { pathFor } from '../grants/file-names.js'
import { objectAt, realObjectAt, realPathOf } from '../grants/object-at.js'
import type { FoundObject, RealObject } from '../grants/object-at.js'

const LARGEST = 16 << 20
const MOST_REMEMBERED = 1_000
/** The same as in git. */
const DEEPEST_INCLUDE = 10

interface Redirected {
  readonly places: readonly RealObject[]
  /** Git would look here, and nothing exists yet. */
  readonly missing: readonly AbsolutePath[]
}

/** `found`: protected names in write roots. The repositories around the roots count as well. `home`: for `~`. */
export const redirectsOf = (
  found: readonly FoundObject[],
  roots: readonly AbsolutePath[],
  home: string,
): Redirected => {
  const inside = found
    .filter(({ path }) => path.endsWith('/.git') || path.endsWith('/.git/config'))
    .map(({ path }) => (basename(path) === '.git' ? path : parentOf(path)))
  const entries = new Set<AbsolutePath>([...inside, ...roots.flatMap(repositoryAround)])
  const paths = new Set([...entries].flatMap((entry) => redirectedBy(entry, home) as readonly AbsolutePath[]))
  const real = [...paths].map((path) => ({ path, place: realPathOf(path) }))
  return {
    places: real.flatMap(({ place }) => (place === undefined ? [] : realObjectAt(place))),
    missing: real.flatMap(({ path, place }) => (place === undefined ? [futurePathOf(path)] : [])),
  }
}

/** Remembers the parsed file until it changes, because every call asks. A missing file is `nothing`. */
const rememberRead = <Value>(parse: (text: string) => Value, nothing: Value): ((file: string) => Value) => {
  const remembered = new Map<string, { readonly state: string; readonly value: Value }>()
  return (file) => {
    const state = stateOf(file)
    const known = remembered.get(file)
    if (state === undefined) return nothing
    if (known?.state === state) return known.value
    const value = parse(ifSeen(() => readOrdinaryFile(pathFor(file))) ?? '')
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
          `${file} is larger than a configuration of git can be (${LARGEST >> 20}M), so nobody knows ` +
          'what it names',
      })
    return [status.dev, status.ino, status.size, status.mtimeMs, status.ctimeMs].join()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return undefined
  }
}

/** The `.git` of the work tree around a write root. */
const repositoryAround = (root: AbsolutePath): readonly AbsolutePath[] => {
  for (let folder = root; folder !== '/'; folder = parentOf(folder)) {
    const entry = `${folder}/.git` as AbsolutePath
    if (folder !== root && objectAt(entry) !== undefined) return [entry]
  }
  return []
}

const PARTS = PROTECTED_NAMES.filter(({ name }) => name.startsWith('.git/')).map(({ name }) =>
  name.slice('.git/'.length),
)

/** `entry`: a `.git`, which is the repository, a file that names it, or a link to one of these. */
const redirectedBy = (entry: AbsolutePath, home: string): readonly string[] => {
  const tree = parentOf(entry)
  const named = /^gitdir: (.+)/.exec(textIn(entry))?.[1]?.trimEnd()
  const repository = named === undefined ? entry : resolve(tree, named)
  const shared = textIn(`${repository}/commondir`)
  const repositories = shared === '' ? [repository] : [repository, resolve(repository, shared)]
  // The names in a plain repository are protected already.
  const parts =
    named === undefined && shared === ''
      ? []
      : repositories.flatMap((folder) => PARTS.map((part) => `${folder}/${part}`))
  const configs = repositories.flatMap((folder) => [`${folder}/config`, `${folder}/config.worktree`])
  return [...parts, ...configs.flatMap((config) => namedByConfig(config, [tree, repository], home, DEEPEST_INCLUDE))]
}

/**
 * Hooks are named relative to the work tree or, by mistake, to the repository. Included files are named relative to the
 * including file.
 */
const namedByConfig = (config: string, folders: readonly string[], home: string, depth: number): readonly string[] =>
  redirectionsOf(config).flatMap(({ section, value }) => {
    if (section === 'core') return folders.map((folder) => from(folder, value, home))
    const included = from(dirname(config), value, home)
    return depth === 0 ? [included] : [included, ...namedByConfig(included, folders, home, depth - 1)]
  })

const from = (folder: string, value: string, home: string): string =>
  resolve(
    folder,
    value.replace(/^~(?=\/|$)/, () => home),
  )

type Setting = Readonly<Record<'section' | 'key' | 'value', string>>

/** `core.hooksPath` and includes that name a path. */
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

const textIn = rememberRead((text) => text.trimEnd(), '')
const redirectionsOf = rememberRead(redirectionsIn, [])
