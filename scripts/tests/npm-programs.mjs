// Installs programs of others from npm in a folder outside of this repository: they are large, and no dependencies of
// Cordon.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Outside of this repository: what is kept here is large, and changes seldom. */
export const TEST_CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cordon-tests')

/** `packages` has names with versions. `isUsable` is asked about a package that npm has installed. */
export const npmPrograms = (kind, packages, isUsable = () => true) => {
  /** A folder for each version, so that one that is half installed is not taken for another. */
  const folderOf = (name) => join(TEST_CACHE, kind, packages[name].replaceAll('/', '+'))
  const modulesOf = (name) => join(folderOf(name), 'node_modules')
  const isDone = (name) => existsSync(join(folderOf(name), 'done'))
  const install = (name) => {
    const folder = folderOf(name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', packages[name]]
    const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit', timeout: 600_000 })
    if (status === 0 && isUsable(name, modulesOf(name))) writeFileSync(join(folder, 'done'), '')
  }
  return {
    /** The folder with the modules of a package. Undefined if it is not installed. */
    installed: (name) => (isDone(name) ? modulesOf(name) : undefined),
    /** Returns the packages that could not be installed. */
    provide: () => {
      const names = Object.keys(packages)
      for (const name of names.filter((each) => !isDone(each))) install(name)
      return names.filter((each) => !isDone(each)).map((name) => packages[name])
    },
  }
}

/** For a script that is started by itself. */
export const provideIfStarted = (url, provide) => {
  const script = fileURLToPath(url)
  if (script !== process.argv[1]) return
  const missing = provide()
  if (missing.length > 0) process.stderr.write(`${basename(script)}: npm could not install ${missing.join(' ')}\n`)
  process.exitCode = missing.length === 0 ? 0 : 1
}
