import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs vitest in a checkout and returns its counts, and the files of which every test passed. Everything that is wrong
 * counts as failed at least once: a file that does not load, an error outside of any test, a crash of vitest itself.
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
    // See vitest.config.ts: whoever calls this has built the checkout.
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
  // A slip of the configuration that lets everything run would only be seen by the time that it takes.
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
