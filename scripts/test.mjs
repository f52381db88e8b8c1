// `npm test`: installs missing needs if allowed, builds, checks, and runs every suite. Suites about the boundary
// run a second time as an ordinary user. The last line is the summary.
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
 * Suites for one user: those without cells, those whose cells other suites try as both users, and the sanitizers, which
 * check our code and not the boundary. Containers have a run of their own: beside attacks that use up the processes of
 * their user, an engine of the same user ends.
 */
const FOR_ONE_USER = new Set([
  'vm',
  'analysis',
  'architecture',
  'errors',
  'policy',
  'gate',
  'sandbox',
  'egress',
  'runtime',
  'adapters',
  'containers',
  'field',
  'store',
  'server',
  'faults',
  'sanitized',
])

/** Files of other suites whose results do not depend on the user. */
const FILES_FOR_ONE_USER = [
  'arguments',
  'bundled-policies',
  'calls',
  'egress-words',
  'hints',
  'keyring',
  'launcher-mismatch',
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
  'streams',
  'named-options',
  'visible-text',
  'ways-out',
  'words',
].map((name) => `test/cli/${name}.test.ts`)

/** Containers that only root can make, and comparisons of manifests that load no project. */
const OTHER_FILES_FOR_ONE_USER = [
  'places/containers',
  ...['code-hash', 'flow', 'inspect-outputs', 'portable', 'random-agents', 'twelve-agents'].map(
    (name) => `manifest/${name}`,
  ),
  ...['acceptance', 'findings', 'flow', 'properties', 'renames', 'reports'].map((name) => `manifest/verify-${name}`),
].map((name) => `test/${name}.test.ts`)

/** They try programs that are installed for the user who runs the tests (agent-programs.mjs, mcp-programs.mjs). */
const FILES_WITH_FOREIGN_PROGRAMS = [
  'hook/claude-code',
  'hook/codex',
  'hook/gemini',
  'hook/opencode',
  'mcp/conformance',
  'mcp/further-servers',
  'mcp/inspector',
].map((name) => `test/${name}.test.ts`)

/** For an ordinary user, the engine of these tests is a rootless one. */
const CONTAINERS = 'test/containers/'

/** The code of a cell: the launcher, and the rooms that start it. They import no others. */
const CELL = [
  ...['native', 'src/sandbox', 'src/policy', 'src/errors', 'src/shapes', 'src/platform'],
  'scripts/build-native.mjs',
]

/** Tests in virtual machines, by the names of their checks. `npm run test:guests` starts further guests. */
const IN_MACHINES = { vm: 'test/vm/cgroup.test.ts', guests: 'test/vm/kernels.test.ts' }

/** Slow checks of the cell, with their inputs. Inputs that passed before on this machine are skipped, except in CI. */
const OF_THE_CELL = {
  fuzz: {
    paths: [...CELL, 'scripts/fuzz.mjs', 'scripts/fuzz-seeds.mjs'],
    programs: ['clang'],
  },
  sanitized: {
    paths: [
      ...[...CELL, 'vitest.config.ts'],
      ...['test/sanitized', 'test/conformance', 'test/ending.ts', 'test/requirement.ts'],
    ],
    programs: ['cc'],
  },
  vm: {
    paths: [
      ...[...CELL, 'vitest.config.ts'],
      ...['test/vm', 'test/attacks/playground.ts', 'test/attacks/programs', 'scripts/vm-kernel.mjs'],
    ],
    programs: ['cc'],
  },
  guests: {
    paths: [
      ...['native', 'src', 'bin', 'sql', 'policies', 'deploy', 'packages', 'package.json', 'vitest.config.ts'],
      ...['test/vm', 'test/attacks/playground.ts', 'test/attacks/programs', 'test/attacks/outcomes.ts'],
      ...['test/packed-package.ts', 'scripts/build-native.mjs', 'scripts/guest-parts.mjs', 'docs/kernels.md'],
      ...['tsconfig.json', 'scripts/bundle.mjs', 'scripts/cache-code.mjs', 'scripts/pack-launcher.mjs'],
    ],
    programs: ['cc'],
  },
}

const total = { passed: 0, skipped: 0, failures: [] }

const add = ({ passed = 0, skipped = 0, failures = [] }, user) => {
  total.passed += passed
  total.skipped += skipped
  total.failures.push(...failures.map((failure) => (user === undefined ? failure : `as ${user}: ${failure}`)))
}

const addCheck = (name, status) => add(status === 0 ? { passed: 1 } : { failures: [`${name} ended with ${status}`] })

const heading = (text) => process.stdout.write(`\n== ${text}\n`)

const check = (name, program, args) => {
  heading(name)
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' })
  addCheck(name, status)
  return status === 0
}

/** Runs one check, and keeps its output for its end. */
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
  addCheck(name, status)
}

/** Runs independent checks, two at a time. */
const checkTogether = async (checks) => {
  const waiting = [...checks]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) tell(await run(next))
  }
  await Promise.all([work(), work()])
}

/** Runs checks that only compute, one after the other, at low priority. */
const checkBeside = async (checks) => {
  const ended = []
  for (const each of checks) ended.push(await run(each, YIELDING))
  return ended
}

/** For `nice`: the tests must not wait for these checks. */
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
  const without = [...FILES_FOR_ONE_USER, ...OTHER_FILES_FOR_ONE_USER, ...FILES_WITH_FOREIGN_PROGRAMS]
  await withCopyFor(user, ROOT, async (checkout, node) => {
    const as = { uid: user.uid, gid: user.gid }
    add(await runVitest({ checkout, folders, without, node, as, env }), user.name)
    heading(`vitest as the user ${user.name} (${CONTAINERS}, with a rootless engine)`)
    add(await runVitest({ checkout, folders: [CONTAINERS], node, as, env }), user.name)
  })
}

heading('what the tests need')
const missing = installNeeds()
for (const sentence of missing) process.stdout.write(`test: ${sentence}\n`)
if (missing.length === 0) process.stdout.write('test: everything is there\n')
// Elsewhere such tests are skipped with a reason. In CI nothing may be skipped.
if (IN_CI) add({ failures: missing })

const built =
  check('build', ...tool('typescript/bin/tsc', '-p', 'tsconfig.json')) &&
  check('command line', ...node('scripts/bundle.mjs')) &&
  check('prepared image of the store', ...node('scripts/build-store-image.mjs')) &&
  check('launcher', ...node('scripts/build-native.mjs')) &&
  check('code cache of the command line', ...node('scripts/cache-code.mjs'))

/** For a check that may be skipped: what to do after it passed, or undefined if it is skipped. */
const needed = (name) => {
  const { isKnown, note } = passedBefore(name, OF_THE_CELL[name])
  if (IN_CI || !isKnown) return note
  process.stdout.write(
    `\ntest: ${name} is skipped: the same inputs passed before on this machine (remove build/passed/${name} ` +
      `to run it)\n`,
  )
  add({ skipped: 1 })
  return undefined
}

if (built) {
  const noteFuzz = needed('fuzz')
  const noteSanitized = needed('sanitized')
  const machines = Object.entries(IN_MACHINES).map(([name, file]) => ({ file, note: needed(name) }))
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
  const started = machines.filter(({ note }) => note !== undefined)
  if (started.length > 0) {
    // Without other tests, because an emulated machine takes a whole processor. Two of them run at the same time.
    heading('vitest in virtual machines')
    const ended = await runVitest({ checkout: ROOT, folders: started.map(({ file }) => file) })
    add(ended)
    for (const { file, note } of started) if (ended.passedFiles.includes(join(ROOT, file))) note()
  }
  if (process.getuid?.() === 0) await runAsOrdinaryUser()
  else process.stdout.write('\ntest: not run as root, so the suites ran as the current user only\n')
}

const { passed, skipped, failures } = total
if (failures.length > 0) heading('what failed')
for (const failure of failures) process.stdout.write(`${failure}\n`)
process.stdout.write(`\n${passed} passed, ${failures.length} failed, ${skipped} skipped\n`)
process.exitCode = failures.length === 0 ? 0 : 1
