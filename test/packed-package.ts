// Packages as npm packs them, and npm without a registry.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { CORE } from './repository.js'

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
