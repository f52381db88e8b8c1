import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { outputOf } from './checks.mjs'

const NOTHING = { passed: 0, skipped: 0, left: 0, files: [] }

/**
 * Runs vitest and returns its counts, its failures in words, and how long each file took. A file that does not load, an
 * error outside of tests and a crash of vitest count as failures too. Without `matrix`, the tests with this tag and the
 * files NAME.matrix.test.ts are left out. `isQuiet` keeps the output for the caller.
 */
export const runVitest = async ({
  checkout,
  files,
  matrix = false,
  without = [],
  workers,
  node = process.execPath,
  as = {},
  env = process.env,
  isQuiet = false,
}) => {
  const report = join(checkout, 'build', `vitest-${process.pid}-${(runs += 1)}.json`)
  mkdirSync(join(checkout, 'build'), { recursive: true })
  rmSync(report, { force: true })
  const excluded = [...without, ...(matrix ? [] : ['**/*.matrix.test.ts'])]
  // The checkout is built already (vitest.config.ts).
  const variables = {
    CORDON_TEST_BUILT: '1',
    CORDON_TEST_REPORT: report,
    ...(matrix ? { CORDON_TEST_SCOPE: 'matrix' } : {}),
  }
  const vitest = spawn(
    node,
    [
      join('node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=./scripts/tests/report.mjs',
      ...(workers === undefined ? [] : [`--maxWorkers=${workers}`]),
      ...(matrix ? [] : ['--tagsFilter=!matrix']),
      ...excluded.map((pattern) => `--exclude=${pattern}`),
      ...files,
    ],
    { cwd: checkout, stdio: isQuiet ? ['ignore', 'pipe', 'pipe'] : 'inherit', env: { ...env, ...variables }, ...as },
  )
  const { output, status } = await (isQuiet ? outputOf(vitest) : statusOf(vitest))
  if (!existsSync(report)) return { ...NOTHING, output, failures: ['vitest left no report'] }
  const ran = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(report)
  const failures = [...ran.failures, ...ran.files.flatMap((file) => file.failures)]
  // A wrong configuration that runs everything would otherwise only take longer.
  const unwanted = ran.files.filter(({ file }) => without.some((path) => file.endsWith(path)))
  failures.push(...unwanted.map(({ file }) => `${file} ran, but is excluded from this run`))
  if (failures.length === 0 && status !== 0) failures.push(`vitest ended with ${status}, though no test failed`)
  const sum = (count) => ran.files.reduce((total, file) => total + file[count], 0)
  return { passed: sum('passed'), skipped: sum('skipped'), left: sum('left'), failures, files: ran.files, output }
}

const statusOf = async (child) => ({
  output: '',
  status: await new Promise((resolve) => child.on('error', () => resolve(1)).on('close', resolve)),
})

let runs = 0
