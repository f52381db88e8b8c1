// What a stranger gets: the package as npm packs it, installed into an empty folder, with and without a compiler.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import { needs } from '../requirement.js'
import { temporaryFolder } from './cordon.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LAUNCHER_PACKAGE = `@cordon/launcher-linux-${process.arch}`
const folder = temporaryFolder()

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((place) => {
      try {
        return [realpathSync(join(place, name))]
      } catch {
        return []
      }
    })[0]

const npmProgram = onPath('npm')

/** A PATH with what npm itself needs, and no compiler. */
const bare = join(folder, 'bare')
mkdirSync(bare)
symlinkSync(process.execPath, join(bare, 'node'))
symlinkSync(realpathSync('/bin/sh'), join(bare, 'sh'))

const npm = (words: readonly string[], cwd: string, path: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [npmProgram ?? '', ...words, '--offline', '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd,
    env: { PATH: path, HOME: folder, npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'error' },
    encoding: 'utf8',
    timeout: 240_000,
  })
  return { status, output: `${stdout}${stderr}` }
}

const SYSTEM = `${bare}:/usr/local/bin:/usr/bin:/bin`

const pack = (source: string): string => {
  const before = new Set(readdirSync(folder))
  const { status, output } = npm(['pack', source, '--ignore-scripts', '--pack-destination', folder], ROOT, SYSTEM)
  expect(status, output).toBe(0)
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz') && !before.has(name)) ?? '')
}

/** Everything that the package needs at run time, so that no registry is asked. */
const dependenciesOf = (place: string, seen: Set<string>): ReadonlySet<string> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> }
  for (const name of Object.keys(dependencies)) {
    if (seen.has(name)) continue
    seen.add(name)
    dependenciesOf(join(ROOT, 'node_modules', name), seen)
  }
  return seen
}

const packed = npmProgram === undefined ? [] : [ROOT, ...[...dependenciesOf(ROOT, new Set())].map((name) => join(ROOT, 'node_modules', name))].map(pack)

const install = (context: TestContext, name: string, path: string, ...more: readonly string[]) => {
  needs(context, npmProgram !== undefined, 'npm is not in the PATH')
  const place = join(folder, name)
  mkdirSync(place)
  return { place, ...npm(['install', ...packed, ...more], place, path) }
}

const run = (place: string) => {
  const { status, stdout, stderr } = spawnSync(join(place, 'node_modules', '.bin', 'cordon'), ['run', '--', 'echo', 'ran'], { cwd: '/', env: { PATH: SYSTEM, HOME: folder }, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('npm install of the packed package', { timeout: 300_000 }, () => {
  test('with a compiler builds the launcher, and the command line and the library work', (context) => {
    const { place, status, output } = install(context, 'compiler', SYSTEM)
    expect(status, output).toBe(0)
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    writeFileSync(join(place, 'use.mjs'), "import { openSandbox } from 'cordon/sandbox'\nimport { parsePolicy } from 'cordon/policy'\nimport { CordonError } from 'cordon/errors'\nconsole.log(typeof openSandbox, typeof parsePolicy, typeof CordonError)\n")
    expect(spawnSync(process.execPath, ['use.mjs'], { cwd: place, encoding: 'utf8' }).stdout).toBe('function function function\n')
  })

  test('without one uses the prebuilt launcher', (context) => {
    const launcher = join(folder, 'launcher')
    mkdirSync(join(launcher, 'bin'), { recursive: true })
    copyFileSync(join(ROOT, 'build', 'cordon-cell'), join(launcher, 'bin', 'cordon-cell'))
    writeFileSync(join(launcher, 'package.json'), JSON.stringify({ name: LAUNCHER_PACKAGE, version: '0.1.0', files: ['bin'] }))
    const { place, status, output } = install(context, 'prebuilt', bare, pack(launcher))
    expect(status, output).toBe(0)
    expect(readdirSync(join(place, 'node_modules', 'cordon'))).not.toContain('build')
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
  })

  test('without either says what is missing and what to do', (context) => {
    const { status, output } = install(context, 'neither', bare)
    expect(status).not.toBe(0)
    expect(output).toContain(`no working C compiler and no prebuilt launcher for ${process.arch}`)
    expect(output).toContain(`install a compiler (apt-get install gcc libc6-dev) or the prebuilt launcher (npm install ${LAUNCHER_PACKAGE}), then run this again`)
  })

  test('where install scripts are switched off, the first run says how to build the launcher, and that works', (context) => {
    const { place, status, output } = install(context, 'no-scripts', SYSTEM, '--ignore-scripts')
    expect(status, output).toBe(0)
    const refused = run(place)
    expect(refused.status).toBe(125)
    expect(refused.stderr).toMatch(/^cordon: launcher-missing: .*\nfix: install a C compiler .*npm rebuild cordon/)
    expect(npm(['rebuild', 'cordon'], place, SYSTEM).status).toBe(0)
    expect(run(place).status).toBe(0)
  })
})
