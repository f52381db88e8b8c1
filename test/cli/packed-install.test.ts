// What a stranger gets: the package as npm packs it, installed into an empty folder, with and without a compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  (process.env['PATH'] ?? '').split(delimiter).flatMap((place) => {
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

const SYSTEM = `${bare}:/usr/local/bin:/usr/bin:/bin`

/** The package itself, as npm packs it. */
const packOwn = (): readonly string[] => {
  const to = mkdtempSync(join(folder, 'packed-'))
  const { status, output } = npm(['pack', ROOT, '--ignore-scripts', '--pack-destination', to], ROOT, SYSTEM)
  expect(status, output).toBe(0)
  const made = readdirSync(to)
  expect(made).toHaveLength(1)
  return made.map((name) => join(to, name))
}

/** What it needs, as npm takes it. Not compressed: that takes longer than everything else that npm does with it. */
const packNeeded = (sources: readonly string[]): readonly string[] => {
  const to = mkdtempSync(join(folder, 'needed-'))
  return sources.map((source, index) => {
    const archive = join(to, `${String(index)}.tgz`)
    execFileSync('tar', ['-C', source, '--transform=s,^\\.,package,', '--exclude=./node_modules', '-cf', archive, '.'])
    return archive
  })
}

/** The packages of the store, and what they bring along; the first is large. */
const OF_THE_STORE = ['@electric-sql/pglite', 'pg']

/** Everything that the package needs at run time, so that no registry is asked. */
const dependenciesOf = (place: string, seen: Set<string>): ReadonlySet<string> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    if (seen.has(name)) continue
    seen.add(name)
    dependenciesOf(join(ROOT, 'node_modules', name), seen)
  }
  return seen
}

const placeOf = (name: string): string => join(ROOT, 'node_modules', name)
const needed = dependenciesOf(ROOT, new Set())
const ofTheStore = new Set([
  ...OF_THE_STORE,
  ...OF_THE_STORE.flatMap((name) => [...dependenciesOf(placeOf(name), new Set())]),
])

/** A package by its name and version, with nothing in it. */
const emptied = (name: string): string => {
  const place = join(folder, 'emptied', name)
  const { version } = JSON.parse(readFileSync(join(placeOf(name), 'package.json'), 'utf8')) as { version: string }
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version }))
  return place
}

/** What npm is given: the package, and all that it needs. */
const packages =
  npmProgram === undefined
    ? []
    : [...packOwn(), ...packNeeded([...needed].filter((name) => !ofTheStore.has(name)).map(placeOf))]

const install = (
  context: TestContext,
  name: string,
  path: string,
  others: readonly string[],
  ...more: readonly string[]
) => {
  needs(context, npmProgram !== undefined, 'npm is not in the PATH')
  const place = join(folder, name)
  mkdirSync(place)
  return { place, ...npm(['install', ...packages, ...others, ...more], place, path) }
}

const run = (place: string) => {
  const { status, stdout, stderr } = spawnSync(
    join(place, 'node_modules', '.bin', 'cordon'),
    ['run', '--', 'echo', 'ran'],
    { cwd: '/', env: { PATH: SYSTEM, HOME: folder }, encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

describe('npm install of the packed package', { timeout: 900_000 }, () => {
  // `cordon run` uses no store: where its packages are empty, an installation takes a fraction of the time.
  const withoutStore = npmProgram === undefined ? [] : packNeeded([...ofTheStore].map(emptied))

  test('with a compiler builds the launcher, and the command line and the library work', (context) => {
    const { place, status, output } = install(context, 'compiler', SYSTEM, packNeeded([...ofTheStore].map(placeOf)))
    expect(status, output).toBe(0)
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    writeFileSync(
      join(place, 'use.mjs'),
      "import { openSandbox } from 'cordon/sandbox'\nimport { parsePolicy } from 'cordon/policy'\nimport { " +
        "CordonError } from 'cordon/errors'\nconsole.log(typeof openSandbox, typeof parsePolicy, typeof " +
        'CordonError)\n',
    )
    expect(spawnSync(process.execPath, ['use.mjs'], { cwd: place, encoding: 'utf8' }).stdout).toBe(
      'function function function\n',
    )
  })

  // One installation without its script, which is then run by hand (npm rebuild) as npm install would run it.
  describe('where install scripts are switched off', () => {
    let place = ''
    const rebuild = (path: string) => npm(['rebuild', 'cordon'], place, path)

    test('the first run says how to build the launcher', (context) => {
      const installed = install(context, 'no-scripts', SYSTEM, withoutStore, '--ignore-scripts')
      expect(installed.status, installed.output).toBe(0)
      place = installed.place
      const refused = run(place)
      expect(refused.status).toBe(125)
      expect(refused.stderr).toMatch(/^cordon: launcher-missing: .*\nfix: install a C compiler .*npm rebuild cordon/)
    })

    test('the script without compiler and prebuilt launcher says what is missing and what to do', () => {
      const { status, output } = rebuild(bare)
      expect(status).not.toBe(0)
      expect(output).toContain(`no working C compiler and no prebuilt launcher for ${process.arch}`)
      expect(output).toContain(
        'install a compiler (apt-get install gcc libc6-dev) or the prebuilt launcher (npm install ' +
          `${LAUNCHER_PACKAGE}), then run this again`,
      )
    })

    test('the script without a compiler uses the prebuilt launcher', () => {
      const launcher = join(place, 'node_modules', LAUNCHER_PACKAGE)
      mkdirSync(join(launcher, 'bin'), { recursive: true })
      copyFileSync(join(ROOT, 'build', 'cordon-cell'), join(launcher, 'bin', 'cordon-cell'))
      writeFileSync(join(launcher, 'package.json'), JSON.stringify({ name: LAUNCHER_PACKAGE, version: '0.1.0' }))
      const { status, output } = rebuild(bare)
      expect(status, output).toBe(0)
      expect(readdirSync(join(place, 'node_modules', 'cordon'))).not.toContain('build')
      expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
      rmSync(launcher, { recursive: true })
    })

    test('the script with a compiler builds the launcher', () => {
      const { status, output } = rebuild(SYSTEM)
      expect(status, output).toBe(0)
      expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    })
  })
})
