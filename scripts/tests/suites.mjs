// Which suites run as which user.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from './checks.mjs'

const foldersIn = (folder) =>
  existsSync(join(ROOT, folder))
    ? readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [`${folder}/${entry.name}`] : [],
      )
    : []

/** The tests of each package, and those of the whole. */
const PLACES = ['test', ...foldersIn('packages').map((folder) => `${folder}/test`)]

/** Every folder of a place with tests, such as packages/core/test/attacks/. */
export const allSuites = () =>
  PLACES.flatMap(foldersIn)
    .filter((folder) => readdirSync(join(ROOT, folder), { recursive: true }).some((name) => name.endsWith('.test.ts')))
    .map((folder) => `${folder}/`)

/** `npm test`: the boundary itself, and one thin path of each command that starts cells. */
export const OF_AN_ORDINARY_USER = [
  ...['attacks/', 'conformance/', 'host/', 'places/', 'platform/'].map((name) => `packages/core/test/${name}`),
  ...['exit-status', 'facts', 'signals', 'terminal', 'doctor', 'network-all'].map(
    (name) => `packages/core/test/cli/${name}.test.ts`,
  ),
]

/** The matrix: also suites whose cells others try as both users, and hooks and gateways. */
export const OF_AN_ORDINARY_USER_IN_THE_MATRIX = [
  ...['attacks', 'conformance', 'host', 'places', 'platform', 'cli', 'hook'].map(
    (name) => `packages/core/test/${name}/`,
  ),
  ...['manifest/test/manifest/', 'mcp/test/'].map((name) => `packages/${name}`),
  // Their engine is a rootless one. It ends beside attacks that use up the processes of their user.
  'packages/core/test/containers/',
]

/** Programs that are installed for the user who runs the tests, and containers that only root can make. */
export const NEVER_FOR_AN_ORDINARY_USER = [
  ...['hook/claude-code', 'hook/codex', 'hook/gemini', 'hook/opencode'].map((name) => `core/test/${name}.matrix`),
  ...['conformance', 'further-servers', 'inspector'].map((name) => `mcp/test/mcp/${name}.matrix`),
  'core/test/places/containers',
].map((name) => `packages/${name}.test.ts`)
