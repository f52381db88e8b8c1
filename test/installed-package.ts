// The core, @cordon/mcp and @cordon/adapters as npm lays them out in a project: in node_modules, with what they need
// beside them, and a link in .bin.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { ADAPTERS, CORE, MCP, REPOSITORY } from './repository.js'

const BUNDLE = ['package.json', 'dist/bundle']
/** With the list of the files that are Cordon's own. */
const BUILT = [...BUNDLE, 'dist/contents.json']
/** The parts that run. The launcher was compiled here, as for a platform without a prebuilt one. */
const PARTS = [...BUILT, 'bin', 'policies', 'build/cordon-cell', 'scripts/cache-code.mjs', 'scripts/write-front.mjs']

/** Returns the command in .bin. */
export const installPackage = (project: string): string => {
  const modules = join(project, 'node_modules')
  for (const part of PARTS) copy(join(CORE, part), join(modules, 'cordon', part))
  for (const part of BUILT) copy(join(MCP, part), join(modules, '@cordon', 'mcp', part))
  for (const part of BUNDLE) copy(join(ADAPTERS, part), join(modules, '@cordon', 'adapters', part))
  for (const name of neededBy(MCP, new Set())) copy(join(REPOSITORY, 'node_modules', name), join(modules, name))
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync('../cordon/bin/cordon', join(modules, '.bin', 'cordon'))
  return join(modules, '.bin', 'cordon')
}

/** What npm does after `installPackage`. */
export const makeNative = (project: string): void => {
  const script = join(project, 'node_modules', 'cordon', 'scripts', 'write-front.mjs')
  execFileSync(process.execPath, [script, '--install'], {
    env: { npm_config_user_agent: 'npm/11.0.0', npm_config_local_prefix: project },
  })
}

/** The core in a checkout, as npm links it there. Returns its program. */
export const makeCheckout = (checkout: string): string => {
  const core = join(checkout, 'packages', 'core')
  for (const part of PARTS) copy(join(CORE, part), join(core, part))
  mkdirSync(join(core, 'src'))
  writeFileSync(join(core, 'tsconfig.json'), '{}')
  mkdirSync(join(checkout, 'node_modules'))
  symlinkSync('../packages/core', join(checkout, 'node_modules', 'cordon'))
  return join(core, 'bin', 'cordon.js')
}

const copy = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, filter: (path) => !/\.(?:d\.ts|map)$/.test(path) })
}

const neededBy = (folder: string, seen: Set<string>): ReadonlySet<string> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies)) {
    const place = join(REPOSITORY, 'node_modules', name)
    if (seen.has(name) || !existsSync(place)) continue
    seen.add(name)
    neededBy(place, seen)
  }
  return seen
}
