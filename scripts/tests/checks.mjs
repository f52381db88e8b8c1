// Checks of a run that are no tests, and the sum of everything.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const node = (...args) => [process.execPath, args]
const tool = (path, ...args) => node(join('node_modules', path), ...args)
const cachedAs = (name) => ['--cache', '--cache-strategy', 'content', '--cache-location', `build/cache/${name}`]

/** Rules read the types of other files, so a change of any file that others import voids the cache of ESLint. */
const importedFiles = () => {
  const hash = createHash('sha256')
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mts', '*.mjs'], {
    cwd: ROOT,
  })
  for (const file of String(stdout)
    .split('\n')
    .filter((name) => name !== '' && !name.endsWith('.test.ts')))
    if (existsSync(join(ROOT, file))) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}

export const BUILD = [
  ['TypeScript', ...tool('typescript/bin/tsc', '-b')],
  ['bundles of the core', ...node('packages/core/scripts/bundle.mjs')],
  ['bundles of the packages', ...node('scripts/bundle-package.mjs', 'mcp', 'team', 'manifest', 'eslint', 'adapters')],
  ['declarations', ...node('scripts/bundle-types.mjs', 'core', 'mcp', 'team', 'manifest', 'eslint', 'adapters')],
  ['prepared image of the store', ...node('packages/team/scripts/build-store-image.mjs')],
  ['launcher', ...node('packages/core/scripts/build-native.mjs')],
  ['native command', ...node('packages/core/scripts/write-front.mjs')],
  ['code cache of the command line', ...node('packages/core/scripts/cache-code.mjs')],
  ['hashes of the packages', ...node('packages/core/scripts/list-contents.mjs')],
]

/** They only compute. */
export const RULES = [
  ['lint', ...tool('eslint/bin/eslint.js', '--max-warnings', '0', ...cachedAs(`eslint-${importedFiles()}`), '.')],
  ['layout of TypeScript', ...tool('prettier/bin/prettier.cjs', '--check', ...cachedAs('prettier'), '.')],
  ['layout of native/', ...node('packages/core/scripts/format-c.mjs', '--check')],
  ['types of the tests', ...tool('typescript/bin/tsc', '-p', 'test/tsconfig.json')],
  ...['x86_64', 'aarch64'].map((target) => [
    `launcher for ${target}`,
    ...node('packages/core/scripts/build-native.mjs', '--target', target),
  ]),
]

export const heading = (text) => process.stdout.write(`\n== ${text}\n`)

/** Of a whole run: counts, failures in words, and how long each file took as which user. */
export const newTotal = () => ({ passed: 0, skipped: 0, left: 0, failures: [], files: [] })

export const add = (total, { passed = 0, skipped = 0, left = 0, failures = [], files = [] }, user = 'root') => {
  total.passed += passed
  total.skipped += skipped
  total.left += left
  total.failures.push(...failures.map((failure) => (user === 'root' ? failure : `as ${user}: ${failure}`)))
  total.files.push(...files.map(({ file, seconds }) => ({ file, as: user, seconds })))
}

const countOf = (name, status) => (status === 0 ? { passed: 1 } : { failures: [`${name} ended with ${status}`] })

/** Runs a check by itself, with its output. Returns the same as a run of tests. */
export const runAlone = ([name, program, args]) => {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' })
  return { passed: 0, skipped: 0, failures: [], ...countOf(name, status) }
}

/** For `nice`: the tests must not wait for the checks beside them. */
const YIELDING = 15

const runQuietly = async ([name, program, args]) => {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) setPriority(child.pid, YIELDING)
  const { output, status } = await outputOf(child)
  return { name, output, result: countOf(name, status) }
}

/** Everything that a program prints, and its exit status. */
export const outputOf = async (child) => {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)))
  const status = await new Promise((resolve) => child.on('error', () => resolve(1)).on('close', resolve))
  return { output, status }
}

/** Runs checks one after the other at low priority, and keeps their output for the end. */
export const checkBeside = async (checks) => {
  const ended = []
  for (const each of checks) ended.push(await runQuietly(each))
  return ended
}
