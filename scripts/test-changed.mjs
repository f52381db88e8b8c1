// `npm run test:changed`: the tests of `npm test` that a change can reach, by the imports between files, the programs
// that tests start and the files that they name.
//
//   npm run test:changed                     what is not committed yet
//   npm run test:changed -- --base main      what has come since a commit
//   npm run test:changed -- --list           the files of tests, without running them
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { parseArgs } from 'node:util'

import { BUILD, ROOT, heading, runAlone } from './tests/checks.mjs'
import { ENTRIES, sourceOf } from './entries.mjs'
import { runVitest } from './tests/run-vitest.mjs'

const { values } = parseArgs({ options: { base: { type: 'string', default: 'HEAD' }, list: { type: 'boolean' } } })

const git = (...words) =>
  spawnSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
    .stdout.split('\n')
    .filter(Boolean)

const changed = [
  ...git('diff', '--name-only', '--no-renames', values.base),
  ...git('ls-files', '--others', '--exclude-standard'),
]
const files = [...git('ls-files'), ...git('ls-files', '--others', '--exclude-standard')]
const code = files.filter((file) =>
  /^(?:packages\/[^/]+\/(?:src|test|scripts)|test|scripts)\/.*\.(?:ts|mts|mjs)$/.test(file),
)
const textOf = (file) => {
  try {
    return readFileSync(join(ROOT, file), 'utf8')
  } catch {
    return '' // removed, but not yet for git
  }
}

const NATIVE = 'packages/core/native/'
const isOfTests = (file) => /^(?:packages\/[^/]+\/)?test\//.test(file)
/** `import … from 'cordon/policy'` */
const PACKAGE = /(?:from|import)\s*\(?\s*'([@\w][^']*)'/g
const entryFile = (name) => relative(ROOT, sourceOf(ENTRIES.get(name)))
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g
/** What a file uses without importing it: programs that it starts. */
const PROGRAMS = [
  { mention: /bin\/cordon\.js|load-bundle/, file: 'packages/core/src/commands/dispatch.ts' },
  { mention: /openSandbox|createCordon/, file: NATIVE },
]

const usersOf = new Map()
const addUser = (used, user) => usersOf.set(used, (usersOf.get(used) ?? new Set()).add(user))
const otherFiles = files.filter((file) => !code.includes(file) && !file.startsWith(NATIVE))
for (const user of code) {
  const text = textOf(user)
  for (const [, path] of text.matchAll(IMPORT)) {
    const used = normalize(join(dirname(user), path))
    addUser(used, user)
    addUser(used.replace(/\.(m?)js$/, '.$1ts'), user)
  }
  for (const { mention, file } of PROGRAMS) if (mention.test(text)) addUser(file, user)
  for (const [, name] of text.matchAll(PACKAGE)) if (ENTRIES.has(name)) addUser(entryFile(name), user)
  if (isOfTests(user)) for (const other of otherFiles) if (text.includes(basename(other))) addUser(other, user)
}

/** A change of these can change every test. */
const REACHES_ALL = /^(?:package(?:-lock)?\.json|tsconfig\.json|vitest\.config\.ts|scripts\/|test\/[^/]+\.ts$)/

const reached = new Set()
const reach = (file) => {
  if (reached.has(file)) return
  reached.add(file)
  for (const user of usersOf.get(file) ?? []) reach(user)
}
for (const file of changed) reach(file.startsWith(NATIVE) ? NATIVE : file)
const isTest = (file) => isOfTests(file) && file.endsWith('.test.ts')
const tests = (changed.some((file) => REACHES_ALL.test(file)) ? code : [...reached]).filter(isTest).sort()

if (values.list || tests.length === 0) {
  process.stdout.write(tests.map((file) => `${file}\n`).join(''))
  process.stdout.write(`${tests.length} files of tests can be reached by ${changed.length} changed files\n`)
} else {
  for (const step of BUILD) {
    heading(step[0])
    if (runAlone(step).failures.length > 0) process.exit(1)
  }
  const { passed, failures, skipped } = await runVitest({ checkout: ROOT, files: tests })
  for (const failure of failures) process.stdout.write(`${failure}\n`)
  process.stdout.write(`\n${passed} passed, ${failures.length} failed, ${skipped} skipped\n`)
  process.exitCode = failures.length === 0 ? 0 : 1
}
