// The parts of `npm run test:matrix`, in the order in which they run. Each can be repeated by itself.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT, runAlone } from './checks.mjs'
import { asUser, ordinaryUser, withCopyFor } from './ordinary-user.mjs'
import { runVitest } from './run-vitest.mjs'
import { NEVER_FOR_AN_ORDINARY_USER, OF_AN_ORDINARY_USER_IN_THE_MATRIX, allSuites } from './suites.mjs'

const IS_ROOT = process.getuid?.() === 0
/** An emulated machine takes a whole processor. */
const MACHINES = 'packages/core/test/vm/'
/** Commands that a local host serves where it can. */
const RUNS = 'packages/core/test/cli/'

const asCurrentUser = (folder, more = {}) => ({
  name: `${folder} as ${IS_ROOT ? 'root' : 'the current user'}`,
  run: () => runVitest({ checkout: ROOT, files: [folder], matrix: true, ...more }),
})

const asOrdinaryUser = (folder) => ({
  name: `${folder} as an ordinary user`,
  run: () => {
    const user = ordinaryUser()
    return withCopyFor(user, ROOT, (checkout, node) =>
      runVitest({
        checkout,
        node,
        files: [folder],
        matrix: true,
        without: NEVER_FOR_AN_ORDINARY_USER,
        ...asUser(user),
      }),
    )
  },
})

const program = (name, path, ...words) => ({ name, run: () => runAlone([name, process.execPath, [path, ...words]]) })

export const partsOfTheMatrix = ({ fuzzSeconds }) => [
  program('launcher with sanitizers', 'packages/core/scripts/build-native.mjs', '--sanitize'),
  fuzzSeconds === undefined
    ? program('fuzz targets, 20,000 inputs each', 'packages/core/scripts/fuzz.mjs', '--runs', '20000')
    : program(
        `fuzz targets, ${fuzzSeconds} s each`,
        'packages/core/scripts/fuzz.mjs',
        '--seconds',
        String(fuzzSeconds),
      ),
  ...allSuites()
    .filter((folder) => folder !== MACHINES)
    .map((folder) => asCurrentUser(folder)),
  {
    name: `${RUNS} through the local host`,
    run: () =>
      runVitest({ checkout: ROOT, files: [RUNS], matrix: true, env: { ...process.env, CORDON_TEST_FRONT: '1' } }),
  },
  ...readdirSync(join(ROOT, MACHINES))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => asCurrentUser(`${MACHINES}${name}`, { env: { ...process.env, CORDON_TEST_GUESTS: 'all' } })),
  ...(IS_ROOT ? OF_AN_ORDINARY_USER_IN_THE_MATRIX.map(asOrdinaryUser) : []),
  ...(IS_ROOT ? [program('packages/core/test/containers/ with Docker, as root', 'scripts/tests/docker.mjs')] : []),
]
