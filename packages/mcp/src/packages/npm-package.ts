// Packages of npm: `npm install` finds out what a package needs, and `npm ci` installs exactly that. No install script
// runs.
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { messageOf } from 'cordon/errors'
import { lookUp } from 'cordon/sandbox'
import type { Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { complaintOf } from './install-cell.js'
import type { Installer, Step } from './install-cell.js'
import { checkTree, lockFor, manifestFor, readTree } from './npm-tree.js'
import { NPM_REGISTRY } from './registry.js'

const LOCKING = ['--lockfile-version=3', '--omit-lockfile-registry-resolved', '--omit=dev']
/** npm would also repeat for minutes what has a wrong hash. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=500']
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', ...RETRIES]

export const npmInstaller: Installer = {
  presets: [],
  order: (folder, environment) => ({
    registry: NPM_REGISTRY,
    folder,
    reads: npmFolders(environment),
    variables: {
      HOME: join(folder, 'home'),
      PATH: [dirname(nodeIn(environment)), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      npm_config_cache: join(folder, 'cache'),
      npm_config_userconfig: join(folder, 'home', '.npmrc'),
      npm_config_globalconfig: join(folder, 'home', 'npmrc'),
    },
  }),
  resolve: async ({ name, wanted }, folder, run, depth) => {
    writeFileSync(join(folder, 'package.json'), manifestFor(name, wanted === '' ? 'latest' : wanted))
    const words = [...(depth === 'names' ? ['--package-lock-only'] : []), ...LOCKING]
    const step = await run(['npm', 'install', `--prefix=${folder}`, ...words, ...QUIET])
    if (!step.isDone) throw notInstalled(name, step)
    try {
      const entry = readTree(name, readFileSync(join(folder, 'package-lock.json'), 'utf8'))
      if (depth === 'files') checkTree(folder, name, entry)
      return entry
    } catch (error) {
      throw fail('mcp-package-not-installed', { name, problem: messageOf(error), fix: OTHER_VERSION }, error)
    }
  },
  install: async ({ name }, entry, folder, run) => {
    writeFileSync(join(folder, 'package.json'), manifestFor(name, entry.version))
    writeFileSync(join(folder, 'package-lock.json'), lockFor(name, entry))
    const step = await run(['npm', 'ci', `--prefix=${folder}`, '--omit=dev', ...QUIET])
    if (!step.isDone && /\bEINTEGRITY\b/.test(step.stderr))
      throw fail('mcp-package-altered', { name, problem: complaintOf(step, COMPLAINT) })
    if (!step.isDone) throw notInstalled(name, step)
    try {
      checkTree(folder, name, entry)
    } catch (error) {
      throw fail('mcp-package-altered', { name, problem: messageOf(error) }, error)
    }
  },
  start: ({ name, program, args }, folder, environment) => {
    const file = programFile(folder, name, program)
    const [first = ''] = readFileSync(file, 'latin1').split('\n', 1)
    const flags = NODE_SCRIPT.exec(first)?.groups?.['flags']
    if (flags === undefined) return [file, ...args]
    return [nodeIn(environment), ...(flags.match(/\S+/g) ?? []), file, ...args]
  },
}

const OTHER_VERSION = 'name another version (NAME@VERSION), or install it yourself and name its program'

const COMPLAINT = /^npm (?:error|ERR!) ?/

const notInstalled = (name: string, step: Step) =>
  fail('mcp-package-not-installed', {
    name,
    problem: complaintOf(step, COMPLAINT),
    fix: `check the name, and that npm reaches its registry here: npm view ${name} version`,
  })

/** `#!/usr/bin/env node`, also with options. */
const NODE_SCRIPT = /^#!\s*(?:\/usr\/bin\/env\s+(?:-S\s+)?)?(?:\/\S*\/)?node(?<flags>(?:\s+-\S+)*)\s*$/

/** As npx chooses it: the only program, or the one that has the name of the package. */
const programFile = (folder: string, name: string, program: string | undefined): string => {
  const own = join(folder, 'node_modules', name)
  const { bin = {} } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    readonly bin?: string | Readonly<Record<string, string>>
  }
  const short = name.replace(/^@[^/]+\//, '')
  const programs = typeof bin === 'string' ? { [short]: bin } : bin
  const names = Object.keys(programs)
  const isAlone = new Set(Object.values(programs)).size === 1
  const chosen = program ?? (isAlone ? names[0] : short)
  const path: unknown = chosen !== undefined && Object.hasOwn(programs, chosen) ? programs[chosen] : undefined
  const file = typeof path === 'string' ? join(own, path) : undefined
  if (file === undefined || !existsSync(file))
    throw fail('mcp-package-not-installed', {
      name,
      problem: program === undefined ? 'it has no program of its name' : `it has no program ${JSON.stringify(program)}`,
      fix:
        names.length === 0 ? 'name a package that is a server' : `name one: npx --package ${name} ${names.join('|')}`,
    })
  const real = realpathSync(file)
  if (!real.startsWith(`${realpathSync(folder)}/`))
    throw fail('mcp-package-altered', { name, problem: `its program leads to ${real}` })
  return real
}

/** Clients with windows may have no search path that leads to Node. */
const nodeIn = ({ PATH: searchPath = '' }: Environment): string =>
  realpathSync(lookUp('node', searchPath) ?? process.execPath)

/** npm may be installed anywhere. */
const npmFolders = ({ PATH: searchPath = '' }: Environment): readonly string[] => {
  const found = lookUp('npm', searchPath)
  const script = found === undefined ? undefined : realpathSync(found)
  return script?.endsWith('/bin/npm-cli.js') === true ? [dirname(dirname(script))] : []
}
