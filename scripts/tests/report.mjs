// A reporter of vitest: what became of each test, and how long each file took, as JSON in the file that
// CORDON_TEST_REPORT names.
import { writeFileSync } from 'node:fs'

/** Of a failure's message: enough to see what is wrong without the long output above. */
const LINES_OF_A_MESSAGE = 8

const inShort = (errors) =>
  errors.map(({ message = '' }) => message.split('\n').slice(0, LINES_OF_A_MESSAGE).join('\n    ')).join('\n    ')

/** A test that the filter of tags left out has no note, a test that cannot run here has its reason. */
const isLeftToTheMatrix = (test) => test.tags.includes('matrix') && test.result().note === undefined

const describeFile = (module) => {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  const counts = { passed: 0, failed: 0, skipped: 0, left: 0 }
  const failures = module
    .errors()
    .map((error) => `${module.relativeModuleId} (the file itself)\n    ${inShort([error])}`)
  for (const suite of module.children.allSuites())
    for (const error of suite.errors())
      failures.push(`${module.relativeModuleId} > ${suite.fullName} (its hooks)\n    ${inShort([error])}`)
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result()
    if (state === 'passed') counts.passed++
    else if (state === 'failed') {
      counts.failed++
      failures.push(`${module.relativeModuleId} > ${test.fullName}\n    ${inShort(errors)}`)
    } else if (isLeftToTheMatrix(test)) counts.left++
    else counts.skipped++
  }
  return {
    file: module.relativeModuleId,
    seconds: (prepareDuration + collectDuration + setupDuration + duration) / 1000,
    ...counts,
    failures,
  }
}

export default class Report {
  onTestRunEnd(modules, unhandledErrors) {
    const report = {
      files: modules.map(describeFile),
      failures: unhandledErrors.map((error) => `outside of tests\n    ${inShort([error])}`),
    }
    writeFileSync(process.env.CORDON_TEST_REPORT, JSON.stringify(report))
  }
}
