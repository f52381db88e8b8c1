// Installs the package of a server once, into a folder of its own. Later starts use that folder, without the network.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { codeOf, messageOf } from 'cordon/errors'
import { hashOf } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { makeFolders, PLATFORM } from 'cordon/runtime'
import { escapeGlob } from 'cordon/policy'
import type { PolicyInput } from 'cordon/policy'
import { homeOf, serverPackagesFolderOf } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { withInstallCell } from './install-cell.js'
import type { InstallSettings, Installer, RunStep } from './install-cell.js'
import { changeLock, readLock } from './lock-file.js'
import type { LockEntry, LockPlace } from './lock-file.js'
import { npmInstaller } from './npm-package.js'
import { lockKeyOf } from './package-words.js'
import type { PackageCall, PackageSource } from './package-words.js'
import { pypiInstaller } from './pypi-package.js'

const INSTALLERS: Readonly<Record<PackageSource, Installer>> = { npm: npmInstaller, pypi: pypiInstaller }

interface StartedPackage {
  /** The words that start its program. */
  readonly argv: readonly string[]
  /** For its cell: the folder that the program reads, and its interpreter. */
  readonly policy: PolicyInput
}

/** `onInstall`: before it takes long. */
export const startPackage = async (
  call: PackageCall,
  place: LockPlace,
  settings: InstallSettings,
  onInstall: () => void,
): Promise<StartedPackage> => {
  const key = lockKeyOf(call)
  const root = rootOf(settings)
  const locked = readLock(place)[key]
  const folder = locked === undefined ? undefined : folderFor(root, call, locked)
  if (folder !== undefined && existsSync(folder)) return started(call, folder, settings)
  onInstall()
  const pinned = await installing(call, settings, async (stage) => {
    const wanted = locked ?? (await stage.installNewest())
    await stage.install(wanted)
    // Another gateway may have pinned it at the same time. The first one counts.
    const first = await changeLock(place, key, (before) => before ?? wanted)
    if (first !== wanted) await stage.install(first)
    return first
  })
  return started(call, folderFor(root, call, pinned), settings)
}

interface Update {
  readonly before: LockEntry | undefined
  readonly after: LockEntry
  readonly isChanged: boolean
}

/** Finds out what the words mean now, installs that, and pins it. */
export const updatePackage = (
  call: PackageCall,
  place: LockPlace,
  settings: InstallSettings,
  isDry: boolean,
): Promise<Update> =>
  installing(call, settings, async ({ look, install }) => {
    const after = await look()
    const key = lockKeyOf(call)
    let before = readLock(place)[key]
    const isChanged = before === undefined || hash(before) !== hash(after)
    if (isDry || !isChanged) return { before, after, isChanged }
    await install(after)
    await changeLock(place, key, (found) => {
      before = found
      return after
    })
    return { before, after, isChanged }
  })

const started = (call: PackageCall, folder: string, { environment }: InstallSettings): StartedPackage => ({
  argv: INSTALLERS[call.source].start(call, folder, environment),
  policy: { filesystem: { read: [`${escapeGlob(folder)}/**`] }, presets: INSTALLERS[call.source].presets },
})

const rootOf = ({ environment }: InstallSettings): string => serverPackagesFolderOf(environment, homeOf(environment))

const hash = (value: unknown): string => hashOf(value as JsonValue)

/** The name is for people. The hash stands for every file, because it stands for the integrity of each package. */
const folderFor = (root: string, { source, name }: PackageCall, entry: LockEntry): string => {
  const mark = hash([source, name, PLATFORM.name, process.arch, entry]).slice('sha256:'.length, 'sha256:'.length + 32)
  return join(root, `${source}-${name.replaceAll(/[^\w.-]/g, '_').slice(0, 60)}-${mark}`)
}

interface Stage {
  /** What is the newest now. */
  readonly look: () => Promise<LockEntry>
  readonly installNewest: () => Promise<LockEntry>
  /** Nothing happens if it is there already. */
  readonly install: (entry: LockEntry) => Promise<void>
}

const installing = async <Value>(
  call: PackageCall,
  settings: InstallSettings,
  work: (stage: Stage) => Promise<Value>,
): Promise<Value> => {
  const installer = INSTALLERS[call.source]
  const root = rootOf(settings)
  const staging = makeStaging(root)
  let count = 0
  const newFolder = (): string => {
    count += 1
    const folder = join(staging, `step-${String(count)}`)
    mkdirSync(folder)
    return folder
  }
  try {
    return await withInstallCell(call.name, settings, installer.order(staging, settings.environment), (run: RunStep) =>
      work({
        look: () => installer.resolve(call, newFolder(), run, 'names'),
        installNewest: async () => {
          const folder = newFolder()
          const entry = await installer.resolve(call, folder, run, 'files')
          putInPlace(folder, folderFor(root, call, entry))
          return entry
        },
        install: async (entry) => {
          const target = folderFor(root, call, entry)
          if (existsSync(target)) return
          const folder = newFolder()
          await installer.install(call, entry, folder, run)
          putInPlace(folder, target)
        },
      }),
    )
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** A folder that is only half there never has the name that counts. */
const putInPlace = (folder: string, target: string): void => {
  try {
    renameSync(folder, target)
  } catch (error) {
    // Another gateway was faster with the same content.
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
  }
}

const STAGING = 'installing-'
const LONGEST_INSTALLATION_MS = 24 * 60 * 60 * 1_000

const makeStaging = (root: string): string => {
  try {
    makeFolders(root, 0o700)
    removeLeftovers(root)
    const staging = join(root, `${STAGING}${randomBytes(8).toString('hex')}`)
    makeFolders(join(staging, 'home'), 0o700)
    return staging
  } catch (error) {
    throw fail('file-unwritable', { path: root, problem: messageOf(error) }, error)
  }
}

/** Of processes that were killed. */
const removeLeftovers = (root: string): void => {
  for (const name of readdirSync(root).filter((each) => each.startsWith(STAGING))) {
    const age = Date.now() - (statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > LONGEST_INSTALLATION_MS) rmSync(join(root, name), { recursive: true, force: true })
  }
}
