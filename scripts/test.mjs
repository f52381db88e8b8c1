// `npm test`: installs what is missing and may be installed, builds, checks, and runs every suite;
// those that build cells a second time as an ordinary user. The last line sums everything up.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { installNeeds } from './install-needs.mjs'
import { passedBefore } from './passed-before.mjs'
import { unprivilegedUser, withCopyFor } from './unprivileged-user.mjs'
import { runVitest } from './vitest-run.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const IN_CI = Boolean(process.env.CI)

/**
 * Suites that need no second user: those that start no cell, those whose cells others try as every user, and the
 * sanitizers, which watch our code and not the boundary.
 */
const FOR_ONE_USER = new Set([
  'vm',
  'architecture',
  'errors',
  'policy',
  'gate',
  'sandbox',
  'egress',
  'runtime',
  'field',
  'store',
  'server',
  'faults',
  'sanitized',
])

/** Of the others, what decides, records, installs, reads policies or says something: the same for every user. */
const FILES_FOR_ONE_USER = [
  'bundled-policies',
  'calls',
  'egress-words',
  'hints',
  'keyring',
  'lookup',
  'package-installs',
  'policies',
  'start-advice',
  'decisions',
  'cli-page',
  'recorded-words',
  'time-words',
  'combine-policies',
  'injection-scope',
  'log',
  'log-export',
  'packed-install',
  'policy-sources',
  'prompt',
  'runs',
  'serve',
  'store-status',
  'store-words',
  'named-options',
  'visible-text',
  'ways-out',
  'words',
].map((name) => `test/cli/${name}.test.ts`)

/**
 * What watches the C code, with everything that it depends on. Where the same inputs passed before on this machine it
 * is left out. CI runs it always.
 */
const OF_NATIVE_CODE = {
  fuzz: {
    paths: ['native', 'scripts/fuzz.mjs', 'scripts/fuzz-seeds.mjs', 'src'],
    programs: ['clang'],
  },
  sanitized: {
    paths: [
      ...['native', 'src', 'scripts/build-native.mjs', 'vitest.config.ts'],
      ...['test/sanitized', 'test/conformance', 'test/ending.ts', 'test/requirement.ts'],
    ],
    programs: ['cc'],
  },
}

const total = { passed: 0, failed: 0, skipped: 0 }
const add = ({ passed, failed, skipped }) => {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}

const heading = (text) => process.stdout.write(`\n== ${text}\n`)

const check = (name, program, args) => {
  heading(name)
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' })
  add({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 })
  return status === 0
}

/** By itself, with what it said; to be told when it has ended. */
const run = async ([name, program, args], niceness) => {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  if (niceness !== undefined && child.pid !== undefined) setPriority(child.pid, niceness)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += String(bytes)))
  const status = await new Promise((resolve) => child.on('error', () => resolve(1)).on('close', resolve))
  return { name, said, status }
}

const tell = ({ name, said, status }) => {
  heading(name)
  process.stdout.write(said)
  add({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 })
}

/** Checks that have nothing to do with each other, two at a time; each is told when it has ended. */
const checkTogether = async (checks) => {
  const waiting = [...checks]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) tell(await run(next))
  }
  await Promise.all([work(), work()])
}

/** Checks that only compute, one after the other, with what others leave of the processors while they wait. */
const checkBeside = async (checks) => {
  const ended = []
  for (const each of checks) ended.push(await run(each, YIELDING))
  return ended
}

/** As `nice` has it; the tests themselves wait more than they compute, and must not wait for this. */
const YIELDING = 15

const FUZZ = 'fuzz targets, a fixed number of runs'

const node = (...args) => [process.execPath, args]
const tool = (path, ...args) => node(join('node_modules', path), ...args)

const suites = (isMeant) =>
  readdirSync(join(ROOT, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isMeant(entry))
    .map((entry) => `test/${entry.name}/`)
    .filter((folder) => readdirSync(join(ROOT, folder), { recursive: true }).some((name) => name.endsWith('.test.ts')))

const runAsOrdinaryUser = async () => {
  const folders = suites(({ name }) => !FOR_ONE_USER.has(name))
  if (folders.length === 0) return
  const user = unprivilegedUser()
  heading(`vitest as the user ${user.name} (${folders.join(' ')})`)
  const env = {
    PATH: process.env.PATH,
    HOME: user.home,
    USER: user.name,
    LOGNAME: user.name,
    LANG: 'C.UTF-8',
    ...(IN_CI ? { CI: 'true' } : {}),
  }
  add(
    await withCopyFor(user, ROOT, (checkout, node) =>
      runVitest({ checkout, folders, without: FILES_FOR_ONE_USER, node, as: { uid: user.uid, gid: user.gid }, env }),
    ),
  )
}

heading('what the tests need')
const missing = installNeeds()
for (const sentence of missing) process.stdout.write(`test: ${sentence}\n`)
if (missing.length === 0) process.stdout.write('test: everything is there\n')
// Elsewhere the tests concerned say so themselves and are skipped; in CI nothing may quietly not run.
if (IN_CI) add({ passed: 0, failed: missing.length, skipped: 0 })

const built =
  check('build', ...tool('typescript/bin/tsc', '-p', 'tsconfig.json')) &&
  check('command line', ...node('scripts/bundle-cli.mjs')) &&
  check('prepared image of the store', ...node('scripts/build-store-image.mjs')) &&
  check('launcher', ...node('scripts/build-native.mjs'))

/** Of a check that may be left out: what to do when it has passed, or nothing where it is left out. */
const needed = (name) => {
  const { isKnown, note } = passedBefore(name, OF_NATIVE_CODE[name])
  if (IN_CI || !isKnown) return note
  process.stdout.write(
    `\ntest: ${name} is skipped: the same inputs passed before on this machine (remove build/passed/${name} ` +
      `to run it)\n`,
  )
  add({ passed: 0, failed: 0, skipped: 1 })
  return undefined
}

if (built) {
  const noteFuzz = needed('fuzz')
  const noteSanitized = needed('sanitized')
  await checkTogether([
    ['launcher with sanitizers', ...node('scripts/build-native.mjs', '--sanitize')],
    ...['x86_64', 'aarch64'].map((target) => [
      `launcher for ${target}`,
      ...node('scripts/build-native.mjs', '--target', target),
    ]),
  ])
  const beside = checkBeside([
    ['lint', ...tool('eslint/bin/eslint.js', '--max-warnings', '0', '.')],
    ['layout of TypeScript', ...tool('prettier/bin/prettier.cjs', '--check', '.')],
    ['layout of native/', ...node('scripts/format-c.mjs', '--check')],
    ['types of the tests', ...tool('typescript/bin/tsc', '-p', 'test/tsconfig.json')],
    ...(noteFuzz === undefined ? [] : [[FUZZ, ...node('scripts/fuzz.mjs', '--runs', '20000')]]),
  ])
  heading(`vitest as ${process.getuid?.() === 0 ? 'root' : 'the current user'}`)
  const ran = await runVitest({
    checkout: ROOT,
    folders: suites(({ name }) => name !== 'vm' && (name !== 'sanitized' || noteSanitized !== undefined)),
  })
  add(ran)
  const sanitized = readdirSync(join(ROOT, 'test/sanitized')).filter((name) => name.endsWith('.test.ts'))
  const hasPassed = (name) => ran.passedFiles.some((file) => file.endsWith(`/test/sanitized/${name}`))
  if (noteSanitized !== undefined && sanitized.every(hasPassed)) noteSanitized()
  for (const check of await beside) {
    tell(check)
    if (check.name === FUZZ && check.status === 0) noteFuzz()
  }
  // By itself, because an emulated machine takes all that this one has.
  heading('vitest in a virtual machine')
  add(await runVitest({ checkout: ROOT, folders: ['test/vm/'] }))
  if (process.getuid?.() === 0) await runAsOrdinaryUser()
  else process.stdout.write('\ntest: not run as root, so the suites ran as the current user only\n')
}

process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exitCode = total.failed === 0 ? 0 : 1
