import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs vitest and returns its counts, and the files in which every test passed. A file that does not load, an error
 * outside of tests and a crash of vitest count as failures too.
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
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0, passedFiles: [] }
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  const unloadable = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length
  // A wrong configuration that runs everything would otherwise only take longer.
  const unwanted = testResults.filter(({ name }) => without.some((path) => name.endsWith(`/${path}`))).length
  const passedFiles = testResults
    .filter(({ assertionResults: tests }) => tests.length > 0 && tests.every(({ status }) => status === 'passed'))
    .map(({ name }) => name)
  const failed = numFailedTests + unloadable + unwanted
  return {
    passed: numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
    passedFiles,
  }
}
