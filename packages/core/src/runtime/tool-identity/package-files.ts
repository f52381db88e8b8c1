// The files of packages, with those of the packages that they depend on.
import { readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

import { isMapping } from '../../shapes/index.js'

import { packageNamed } from '../tools/module-files.js'

export interface PackageFiles {
  readonly files: readonly string[]
  /** Whether there are more. */
  readonly isCut: boolean
}

const MOST_FILES = 20_000

export const packageFiles = (folders: readonly string[]): PackageFiles => {
  const files: string[] = []
  const seen = new Set<string>()
  const queue = folders.map(realOf)
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    if (seen.has(folder)) continue
    seen.add(folder)
    for (const { parentPath, name } of filesIn(folder)) {
      if (files.length >= MOST_FILES) return { files, isCut: true }
      files.push(join(parentPath, name))
    }
    const settings = join(folder, 'package.json')
    queue.push(
      ...dependenciesOf(settings)
        .flatMap((name) => packageNamed(name, settings) ?? [])
        .map(realOf),
    )
  }
  return { files, isCut: false }
}

const realOf = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** Also links: what they lead to is part of the code. */
const filesIn = (folder: string) => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  } catch {
    return []
  }
}

const dependenciesOf = (settings: string): readonly string[] => {
  try {
    const read: unknown = JSON.parse(readFileSync(settings, 'utf8'))
    return ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((key) =>
      isMapping(read) && isMapping(read[key]) ? Object.keys(read[key]) : [],
    )
  } catch {
    return []
  }
}
