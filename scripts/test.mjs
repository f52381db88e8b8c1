// `npm test`: installs missing needs if allowed, builds, and tries what each change must know at once: every claim once
// in each form of a cell, walls and an ordinary user in turn. `npm run test:matrix` tries everything else.
// The last line is the summary.
import { BUILD, ROOT, RULES, add, checkBeside, heading, newTotal, runAlone } from './tests/checks.mjs'
import { keepDurations, slowestFiles } from './tests/durations.mjs'
import { installNeeds } from './tests/install-needs.mjs'
import { asUser, ordinaryUser, withCopyFor } from './tests/ordinary-user.mjs'
import { runVitest } from './tests/run-vitest.mjs'
import { NEVER_FOR_AN_ORDINARY_USER, OF_AN_ORDINARY_USER } from './tests/suites.mjs'

const IS_ROOT = process.getuid?.() === 0
/** Beside the workers of root, which often wait. */
const WORKERS_OF_AN_ORDINARY_USER = 2
const total = newTotal()
const begin = Date.now()
const minutes = () => ((Date.now() - begin) / 60_000).toFixed(1)

heading('what the tests need')
const missing = installNeeds()
for (const sentence of missing) process.stdout.write(`test: ${sentence}\n`)
if (missing.length === 0) process.stdout.write('test: everything is there\n')
// Elsewhere such tests are skipped with a reason. In CI nothing may be skipped.
if (process.env.CI) add(total, { failures: missing })
const installed = minutes()

const build = (step) => {
  heading(step[0])
  const result = runAlone(step)
  add(total, result)
  return result.failures.length === 0
}

const runAsOrdinaryUser = async () => {
  const user = ordinaryUser()
  const ran = await withCopyFor(user, ROOT, (checkout, node) =>
    runVitest({
      checkout,
      node,
      files: OF_AN_ORDINARY_USER,
      without: NEVER_FOR_AN_ORDINARY_USER,
      workers: WORKERS_OF_AN_ORDINARY_USER,
      ...asUser(user),
      isQuiet: true,
    }),
  )
  heading(`vitest as the user ${user.name}`)
  process.stdout.write(ran.output)
  add(total, ran, user.name)
}

if (BUILD.every(build)) {
  const rules = checkBeside(RULES)
  const asOrdinaryUser = IS_ROOT ? runAsOrdinaryUser() : undefined
  heading(`vitest as ${IS_ROOT ? 'root' : 'the current user'}`)
  add(total, await runVitest({ checkout: ROOT, files: [] }))
  await asOrdinaryUser
  if (!IS_ROOT) process.stdout.write('\ntest: not run as root, so the suites ran as the current user only\n')
  for (const { name, output, result } of await rules) {
    heading(name)
    process.stdout.write(output)
    add(total, result)
  }
}

const { passed, skipped, left, failures, files } = total
keepDurations(files)
heading('the slowest files')
process.stdout.write(slowestFiles(files))
process.stdout.write(`${minutes()} minutes, of which ${installed} for what the tests need\n`)
process.stdout.write(`${left} tests are left to npm run test:matrix\n`)
if (failures.length > 0) heading('what failed')
for (const failure of failures) process.stdout.write(`${failure}\n`)
process.stdout.write(`\n${passed} passed, ${failures.length} failed, ${skipped} skipped\n`)
process.exitCode = failures.length === 0 ? 0 : 1
