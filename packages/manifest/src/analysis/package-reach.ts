// What a package can do, by the text of the files that its entry reaches, those of its dependencies included.
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'

import { moduleName } from './origin.js'
import { reachOfModule } from './node-effects.js'
import type { Reach } from './node-effects.js'
import { buildsNativeCode, createFileCache, filesNamed, packageFolder } from './package-files.js'
import { searchText } from './package-text.js'
import type { SearchedText } from './package-text.js'

export interface PackageReach {
  /** The place where each is first seen: `name/file.js:3`. */
  readonly reaches: ReadonlyMap<Reach, string>
  /** The folder of the package. */
  readonly folder: string | undefined
}

const MOST_FILES = 1_000

/** `specifier`: a package, or a part of it. `from`: the file that imports it. Undefined if it cannot be found there. */
export const reachOfPackage = (specifier: string, from: string): PackageReach | undefined => {
  const entries = filesNamed(specifier, from)
  const [entry] = entries
  if (entry === undefined) return undefined
  const key = entries.join('\n')
  const installed = installationOf(entry)
  const known = searched.get(key)
  if (known !== undefined && known.installed === installed) return known.found
  const found = { reaches: search(entries), folder: packageFolder(entry) }
  searched.set(key, { installed, found })
  return found
}

/**
 * In memory only: the scripts of packages could write into a file, and so hide what their package reaches. By the path
 * of the entries, until packages are installed anew. An editor keeps this process for days.
 */
const searched = new Map<string, { readonly installed: string; readonly found: PackageReach }>()

/** Package managers write these whenever they install something. The files have the integrity of every package. */
const LOCKS = ['node_modules/.package-lock.json', 'node_modules/.modules.yaml', 'node_modules/.yarn-state.yml']

/** A package outside of node_modules, such as one of a workspace, changes whenever its author saves it. */
const installationOf = (entry: string): string => {
  const at = entry.indexOf('/node_modules/')
  const places = at === -1 ? [entry] : LOCKS.map((name) => join(entry.slice(0, at), name))
  return places
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found === undefined ? '' : `${found.ino}:${found.mtimeMs}:${found.size}`
    })
    .join()
}

const search = (entries: readonly string[]): ReadonlyMap<Reach, string> => {
  const reaches = new Map<Reach, string>()
  const note = (reach: Reach | undefined, place: string): void => {
    if (reach !== undefined && !reaches.has(reach)) reaches.set(reach, shownPath(place))
  }
  const files = new Set(entries)
  const folders = new Set<string>()
  const cache = createFileCache()
  for (const file of files) {
    if (files.size > MOST_FILES) {
      note('opaque', file)
      break
    }
    const folder = packageFolder(file)
    if (folder !== undefined && !folders.has(folder)) {
      folders.add(folder)
      if (buildsNativeCode(folder)) note('native code', join(folder, 'package.json'))
    }
    if (/\.(?:node|wasm)$/.test(file)) note('native code', file)
    if (/\.(?:json|node|wasm)$/.test(file)) continue
    const { specifiers, reaches: own } = searchFile(file)
    for (const [reach, line] of own) note(reach, `${file}:${line}`)
    for (const specifier of specifiers) {
      if (isBuiltin(specifier)) note(reachOfModule(moduleName(specifier)), file)
      else {
        const next = filesNamed(specifier, file, cache)
        if (next.length === 0) note('opaque', file)
        for (const each of next) files.add(each)
      }
    }
  }
  return reaches
}

/** From the folder of packages on. */
const shownPath = (path: string): string =>
  path.slice(path.lastIndexOf('/node_modules/') + 1).replace(/^node_modules\//, '')

/** By the hash of its content: nothing but the same text has the same answer. */
const searchedFiles = new Map<string, SearchedText>()

const searchFile = (file: string): SearchedText => {
  const text = readFileSync(file, 'utf8')
  const hash = createHash('sha256')
    .update(`${file.slice(file.lastIndexOf('.'))}\n${text}`)
    .digest('base64')
  const known = searchedFiles.get(hash) ?? searchText(file, text)
  searchedFiles.set(hash, known)
  return known
}
