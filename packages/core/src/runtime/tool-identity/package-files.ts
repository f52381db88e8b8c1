// The files of packages, with those of the packages that they depend on.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { jsonOfFile, realPathOf } from '../../platform/index.js'
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
  const queue = folders.map(realOrGiven)
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
        .map(realOrGiven),
    )
  }
  return { files, isCut: false }
}

const realOrGiven = (folder: string): string => realPathOf(folder) ?? folder

/** Also links: what they lead to is part of the code. */
const filesIn = (folder: string) => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  } catch {
    return []
  }
}

const dependenciesOf = (settings: string): readonly string[] => {
  const read = jsonOfFile(settings)
  return ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((key) =>
    isMapping(read) && isMapping(read[key]) ? Object.keys(read[key]) : [],
  )
}
