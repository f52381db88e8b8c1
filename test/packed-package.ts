// The core as npm packs it, and everything that npm needs to install it without a registry.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { CORE, REPOSITORY } from './repository.js'

export const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '').split(delimiter).flatMap((place) => {
    try {
      return [realpathSync(join(place, name))]
    } catch {
      return []
    }
  })[0]

export const npmProgram = onPath('npm')

export interface NpmResult {
  readonly status: number | null
  readonly output: string
}

/** npm without a registry, with its cache and home in this folder. */
export const npmIn =
  (folder: string) =>
  (words: readonly string[], cwd: string, path: string): NpmResult => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [npmProgram ?? '', ...words, '--offline', '--no-audit', '--no-fund', '--no-update-notifier'],
      {
        cwd,
        env: { PATH: path, HOME: folder, npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'error' },
        encoding: 'utf8',
        timeout: 600_000,
      },
    )
    return { status, output: `${stdout}${stderr}` }
  }

/** Packs a package of this checkout into an empty folder, and returns the archive. */
export const packInto = (npm: ReturnType<typeof npmIn>, source: string, to: string, path: string): string => {
  mkdirSync(to)
  const { status, output } = npm(['pack', source, '--ignore-scripts', '--pack-destination', to], CORE, path)
  const [archive] = readdirSync(to)
  if (status !== 0 || archive === undefined) throw new Error(`npm pack ${source}: ${output}`)
  return join(to, archive)
}

/** Not compressed: that takes longer than everything else that npm does with it. */
const packNeeded = (sources: readonly string[], folder: string): readonly string[] => {
  const to = mkdtempSync(join(folder, 'needed-'))
  return sources.map((source, index) => {
    const archive = join(to, `${String(index)}.tgz`)
    execFileSync('tar', ['-C', source, '--transform=s,^\\.,package,', '--exclude=./node_modules', '-cf', archive, '.'])
    return archive
  })
}

/** Everything that the package needs at run time, so that no registry is asked. */
const dependenciesOf = (place: string, seen: Set<string>): ReadonlySet<string> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    if (seen.has(name)) continue
    seen.add(name)
    dependenciesOf(join(REPOSITORY, 'node_modules', name), seen)
  }
  return seen
}

const placeOf = (name: string): string => join(REPOSITORY, 'node_modules', name)

/** Everything that npm is given besides the package itself. */
export const packAllNeeded = (folder: string): readonly string[] =>
  packNeeded([...dependenciesOf(CORE, new Set())].map(placeOf), folder)
