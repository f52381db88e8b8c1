// `npm run test:matrix`: everything that `npm test` leaves out, and `npm test` itself: every claim in every form, wall
// and container, as root and as an ordinary user, guests, real agents and servers, sanitizers, long series. It takes
// hours, and goes on where it was stopped. The table at its end is also docs/inside/matrix.md.
//
//   npm run test:matrix                        what has not passed yet with this commit; the table keeps older results
//   npm run test:matrix -- --only attacks      parts whose name has this text; may be given several times
//   npm run test:matrix -- --again             everything anew
//   npm run test:matrix -- --fuzz-seconds 360  each fuzz target for this long (ten of them: an hour)
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, release } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { BUILD, ROOT, heading, runAlone } from './tests/checks.mjs'
import { installNeedsOfTheMatrix } from './tests/install-needs.mjs'
import { partsOfTheMatrix } from './tests/matrix-parts.mjs'

const { values } = parseArgs({
  options: {
    'only': { type: 'string', multiple: true },
    'again': { type: 'boolean' },
    'fuzz-seconds': { type: 'string' },
  },
})

const git = (...words) => spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
const commit = git('rev-parse', '--short=12', 'HEAD')
const RESULT = 'docs/inside/matrix.md'
const isClean = git('status', '--porcelain', '--', '.', `:!${RESULT}`) === ''
const tried = isClean ? commit : `${commit} with uncommitted changes`
const KEPT = join(ROOT, 'build', 'matrix')

const fileOf = (name) => join(KEPT, `${name.replaceAll(/[^A-Za-z0-9.]+/g, '-')}.json`)
const kept = (name) => {
  try {
    return JSON.parse(readFileSync(fileOf(name), 'utf8'))
  } catch {
    return undefined
  }
}

/** What ran on a tree with changes says nothing about the next one. */
const hasPassed = (name) => {
  const result = kept(name)
  return isClean && !values.again && result?.tried === tried && result.failures.length === 0
}

mkdirSync(KEPT, { recursive: true })

heading('what the tests need')
const missing = installNeedsOfTheMatrix()
for (const sentence of missing) process.stdout.write(`test: ${sentence}\n`)

for (const step of BUILD) {
  heading(step[0])
  const { failures } = await runAlone(step)
  if (failures.length > 0) process.exit(1)
}

const isChosen = ({ name }) => values.only?.some((text) => name.includes(text)) ?? true
const parts = partsOfTheMatrix({ fuzzSeconds: values['fuzz-seconds'] })
for (const { name, run } of parts.filter(isChosen)) {
  heading(name)
  if (hasPassed(name)) {
    process.stdout.write('it passed before with this commit\n')
    continue
  }
  const begin = Date.now()
  const { passed, skipped, failures } = await run()
  const minutes = Number(((Date.now() - begin) / 60_000).toFixed(1))
  writeFileSync(fileOf(name), JSON.stringify({ tried, passed, skipped, failures, minutes }))
}

const rows = parts.map(({ name }) => ({ name, result: kept(name) }))
const ran = rows.filter(({ result }) => result !== undefined)
const sum = (count) => ran.reduce((total, { result }) => total + count(result), 0)
const failures = ran.flatMap(({ name, result }) => result.failures.map((failure) => `${name}: ${failure}`))
const table = [
  '| part | commit | passed | failed | skipped | minutes |',
  '| --- | --- | --- | --- | --- | --- |',
  ...rows.map(({ name, result }) =>
    result === undefined
      ? `| ${name} | not run | | | | |`
      : `| ${name} | ${result.tried} | ${result.passed} | ${result.failures.length} | ${result.skipped} | ` +
        `${result.minutes} |`,
  ),
]
const page = [
  '# The last run of the whole matrix',
  '',
  '`npm run test:matrix` writes this page. It tries every claim in every form, wall and container, as root and as an',
  'ordinary user, and what takes too long for `npm test`. Each row names the commit that was tried.',
  '',
  `${new Date().toISOString().slice(0, 10)}, Linux ${release()}, ${arch()}, ${cpus().length} processors, ` +
    `Node ${process.version}.`,
  '',
  ...table,
  '',
  ...(failures.length === 0 ? [] : ['What failed:', '', ...failures.map((each) => `- ${each.split('\n')[0]}`), '']),
]
writeFileSync(join(ROOT, RESULT), page.join('\n'))

heading('the matrix')
process.stdout.write(`${table.join('\n')}\n`)
for (const failure of failures) process.stdout.write(`${failure}\n`)
for (const sentence of missing) process.stdout.write(`test: ${sentence}\n`)
const notRun = rows.length - ran.length
if (notRun > 0) process.stdout.write(`${notRun} parts did not run\n`)
process.stdout.write(
  `\n${sum(({ passed }) => passed)} passed, ${failures.length + missing.length} failed, ` +
    `${sum(({ skipped }) => skipped)} skipped\n`,
)
process.exitCode = failures.length + missing.length === 0 ? 0 : 1
