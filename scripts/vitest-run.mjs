import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Of a failure's message: enough to see what is wrong without the long output above. */
const LINES_OF_A_MESSAGE = 8

const shortened = (message) => message.split('\n').slice(0, LINES_OF_A_MESSAGE).join('\n    ')

/** The failures of one file, each as its place and the beginning of its message. */
const failuresOf = (checkout, { name, message, status, assertionResults: tests }) => {
  const file = relative(checkout, name)
  const failed = tests.filter((test) => test.status === 'failed')
  if (status === 'failed' && failed.length === 0) return [`${file} (the file itself)\n    ${shortened(message)}`]
  return failed.map((test) => `${file} > ${test.fullName}\n    ${shortened(test.failureMessages.join('\n'))}`)
}

/**
 * Runs vitest and returns its counts, its failures in words, and the files in which every test passed. A file that does
 * not load, an error outside of tests and a crash of vitest count as failures too.
 */
export const runVitest = async ({
  checkout,
  folders,
  without = [],
  node = process.execPath,
  as = {},
  env = process.env,
}) => {
  const report = join(checkout, 'build', 'vitest.json')
  rmSync(report, { force: true })
  const vitest = spawn(
    node,
    [
      join('node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...without.map((pattern) => `--exclude=${pattern}`),
      ...folders,
    ],
    // The checkout is built already (vitest.config.ts).
    { cwd: checkout, stdio: 'inherit', env: { ...env, CORDON_TEST_BUILT: '1' }, ...as },
  )
  const status = await new Promise((resolve) => vitest.on('error', () => resolve(1)).on('close', resolve))
  if (!existsSync(report)) return { passed: 0, skipped: 0, failures: ['vitest left no report'], passedFiles: [] }
  const { numPassedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const failures = testResults.flatMap((file) => failuresOf(checkout, file))
  // A wrong configuration that runs everything would otherwise only take longer.
  const unwanted = testResults.filter(({ name }) => without.some((path) => name.endsWith(`/${path}`)))
  failures.push(...unwanted.map(({ name }) => `${relative(checkout, name)} ran, but is excluded from this run`))
  if (failures.length === 0 && status !== 0) failures.push(`vitest ended with ${status}, though no test failed`)
  const passedFiles = testResults
    .filter(({ assertionResults: tests }) => tests.length > 0 && tests.every(({ status }) => status === 'passed'))
    .map(({ name }) => name)
  return { passed: numPassedTests, skipped: numPendingTests + numTodoTests, failures, passedFiles }
}
