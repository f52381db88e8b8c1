// A copy of this program in the user's data folder, outside of every project. Hooks and gateways start from it, because
// a tool may change what lies in its project.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { CordonError, fail, reasonOf } from '../../errors/index.js'
import { PACKAGE_FOLDER, makeFolders, quotedWord, replaceFile, textOfFile, unquotedWord } from '../../platform/index.js'
import { MACHINE_FOLDER, packagesFrom } from '../../runtime/own-files/index.js'
import type { InstalledPackage } from '../../runtime/own-files/index.js'
import { findLauncher, runOnHost } from '../../sandbox/index.js'

import type { Environment } from '../../line/arguments.js'
import { dataFolderOf, homeOf } from '../../settings/own-folders.js'
import { installedProducts } from '../../products/installed-products.js'
import { UNSET } from '../installed-command.js'
import { CONTENTS_FILE, filesBelow, hashFile, hashPackage, nameAndVersion } from './contents.js'
import type { Contents } from './contents.js'

/** A package that the copy holds: the core, or a product that is installed beside it. */
interface Part {
  readonly folder: string
  readonly contents: Contents
  /** The package itself, and what it needs. */
  readonly packages: readonly InstalledPackage[]
}

const partAt = (folder: string): Part => ({
  folder,
  contents: readContents(folder),
  packages: packagesFrom(folder, 'needed'),
})

const partsHere = (): readonly Part[] => [PACKAGE_FOLDER, ...installedProducts()].map(partAt)

/**
 * Also removes the copies that nothing uses any more. Returns the packages that are copied as they are, because the
 * list knows another version of them.
 */
export const copyProgram = async (dataFolder: string): Promise<readonly string[]> => {
  const parts = partsHere()
  const name = copyName(parts)
  const folder = join(programsIn(dataFolder), name)
  const unchecked = [...new Set(parts.flatMap(check))]
  try {
    if (!existsSync(folder)) await makeCopy(folder, parts)
    await writeFront(folder)
    const launcher = launcherOf(dataFolder)
    makeFolders(dirname(launcher))
    replaceFile(launcher, launcherText({ node: realpathSync(process.execPath), folder }), { mode: 0o755 })
    removeUnused(dataFolder, name)
    return unchecked
  } catch (cause) {
    if (cause instanceof CordonError) throw cause
    throw fail('program-copy-unwritable', { path: folder, problem: reasonOf(cause) }, cause)
  }
}

const readContents = (folder: string): Contents => {
  const path = join(folder, CONTENTS_FILE)
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Contents
  } catch (cause) {
    throw fail('program-altered', { path, problem: reasonOf(cause) }, cause)
  }
}

/** By version, and by everything that is in it. */
export const copyName = (parts = partsHere()): string => {
  const hash = createHash('sha256')
  for (const { folder, packages } of parts) {
    hash.update(readFileSync(join(folder, CONTENTS_FILE)))
    for (const each of packages) hash.update(`${nameAndVersion(each.folder)}\n`)
  }
  hash.update(hashFile(findLauncher()))
  const version = nameAndVersion(PACKAGE_FOLDER).split('@').at(-1) ?? ''
  return `${version}-${hash.digest('hex').slice(0, 12)}`
}

/** Throws if a file is not as it was packed. */
const check = ({ folder: own, contents, packages }: Part): readonly string[] => {
  for (const [path, hash] of Object.entries(contents.files)) {
    const file = join(own, path)
    if (!existsSync(file) || hashFile(file) !== hash)
      throw fail('program-altered', { path: file, problem: existsSync(file) ? 'its content differs' : 'it is missing' })
  }
  return packages.flatMap(({ name, folder }) => {
    if (folder === own || isLauncher(name)) return []
    const known = contents.packages[nameAndVersion(folder)]
    if (known === undefined) return [nameAndVersion(folder)]
    if (known === hashPackage(folder)) return []
    throw altered(folder)
  })
}

const altered = (path: string) => fail('program-altered', { path, problem: 'its content differs' })

/** The launcher is copied by itself. */
const isLauncher = (name: string): boolean => name.startsWith('@cordon/launcher-')

/** Made under another name, so that nobody starts half a copy. */
const makeCopy = async (folder: string, parts: readonly Part[]): Promise<void> => {
  makeFolders(dirname(folder))
  const made = mkdtempSync(`${folder}.`)
  try {
    chmodSync(made, 0o755)
    const modules = join(made, 'node_modules')
    const taken = new Map<string, string>()
    for (const { folder: from, contents, packages } of parts) {
      const to = from === PACKAGE_FOLDER ? made : join(modules, nameOf(from))
      copyFile(join(from, CONTENTS_FILE), join(to, CONTENTS_FILE))
      for (const [path, hash] of Object.entries(contents.files)) {
        copyFile(join(from, path), join(to, path))
        // In a checkout a tool may have changed it since it was checked.
        if (hashFile(join(to, path)) !== hash) throw altered(join(from, path))
      }
      const [own] = packages
      if (own !== undefined) copyNeeds(own, to, modules, taken)
    }
    // What the products import as `cordon` is the copy itself.
    makeFolders(modules)
    symlinkSync('..', join(modules, 'cordon'))
    copyFile(findLauncher(), join(made, 'build', 'cordon-cell'))
    await writeCodeCache(made)
    // Another installation may have made the same copy meanwhile.
    if (!existsSync(folder)) renameSync(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

const nameOf = (folder: string): string => nameAndVersion(folder).replace(/@[^@]*$/, '')

const copyFile = (from: string, to: string): void => {
  makeFolders(dirname(to))
  copyFileSync(from, to)
}

/** As npm does: beside each other, and a second version of a package in the package that needs it. */
const copyNeeds = (one: InstalledPackage, at: string, top: string, taken: Map<string, string>): void => {
  for (const needed of one.needs) {
    if (isLauncher(needed.name) || taken.get(needed.name) === needed.folder) continue
    const to = join(taken.has(needed.name) ? join(at, 'node_modules') : top, needed.name)
    if (!taken.has(needed.name)) taken.set(needed.name, needed.folder)
    if (existsSync(to)) continue
    for (const path of filesBelow(needed.folder)) copyFile(join(needed.folder, path), join(to, path))
    copyNeeds(needed, to, top, taken)
  }
}

/** Made anew: nobody can check a code cache. Without one, everything works and starts more slowly. */
const writeCodeCache = async (folder: string): Promise<void> => {
  await runOnHost([process.execPath, join(folder, 'scripts', 'cache-code.mjs')], { PATH: '/usr/bin:/bin' })
}

/** Each time, because it names the Node that runs this. Where it is missing, hooks start Node, which is slower. */
const writeFront = async (folder: string): Promise<void> => {
  const words = [process.execPath, join(folder, 'scripts', 'write-front.mjs'), '--copy']
  await runOnHost(words, { PATH: '/usr/bin:/bin' })
}

/** Not one that another installation is making. */
const WHOLE = /-[0-9a-f]{12}$/

const removeUnused = (dataFolder: string, used: string): void => {
  const programs = programsIn(dataFolder)
  for (const name of readdirSync(programs).filter((each) => WHOLE.test(each))) {
    const folder = join(programs, name)
    if (name !== used && !isRunning(folder)) rmSync(folder, { recursive: true, force: true })
  }
}

/** A gateway that still runs loads parts of its copy later. */
const isRunning = (folder: string): boolean => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .some((name) => startWords(name).some((word) => word.startsWith(`${folder}/`)))
  } catch {
    return true
  }
}

const startWords = (process: string): readonly string[] => textOfFile(`/proc/${process}/cmdline`)?.split('\0') ?? []

/** The folder of the copies that hooks of this scope start. `scope`: of an installed hook. */
export const copiesFor = (scope: string, environment: Environment): string =>
  scope === 'managed' ? MACHINE_FOLDER : dataFolderOf(environment, homeOf(environment))

export const programsIn = (dataFolder: string): string => join(dataFolder, 'programs')

export const launcherOf = (dataFolder: string): string => join(dataFolder, 'bin', 'cordon')

/** The same place for whoever reads a settings file that a team shares. For a shell. */
export const SHARED_LAUNCHER = '"${XDG_DATA_HOME:-$HOME/.local/share}/cordon/bin/cordon"'

interface Started {
  readonly node: string
  /** Of the copy. */
  readonly folder: string
}

/** The native program would look for another Node in the search path, which a project can set. */
const launcherText = ({ node, folder }: Started): string => {
  const [own, native, script] = [node, join(folder, 'bin', 'cordon'), join(folder, 'bin', 'cordon.js')].map(quotedWord)
  return (
    `#!/bin/sh\n# Written by cordon hook install and cordon mcp install.\n${UNSET}\n` +
    `[ -x ${own} ] && [ -x ${native} ] && exec ${native} "$@"\n` +
    `exec ${own} ${script} "$@"\n`
  )
}

/** Undefined if there is none that Cordon wrote. */
export const readLauncher = (dataFolder: string): Started | undefined => {
  const path = launcherOf(dataFolder)
  if (!existsSync(path)) return undefined
  const words = /^exec '(?<node>.*)' '(?<folder>.*)\/bin\/cordon\.js' "\$@"$/m.exec(readFileSync(path, 'utf8'))?.groups
  const { node, folder } = words ?? {}
  return node === undefined || folder === undefined
    ? undefined
    : { node: unquotedWord(node), folder: unquotedWord(folder) }
}
