// Which suites run as which user.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from './checks.mjs'

/** Every folder of test/ with tests. */
export const allSuites = () =>
  readdirSync(join(ROOT, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `test/${name}/`)
    .filter((folder) => readdirSync(join(ROOT, folder), { recursive: true }).some((name) => name.endsWith('.test.ts')))

/** `npm test`: the boundary itself, and one thin path of each command that starts cells. */
export const OF_AN_ORDINARY_USER = [
  ...['test/attacks/', 'test/conformance/', 'test/places/', 'test/platform/'],
  ...['exit-status', 'facts', 'signals', 'terminal', 'doctor', 'network-all'].map((name) => `test/cli/${name}.test.ts`),
]

/** The matrix: also suites whose cells others try as both users, and hooks and gateways. */
export const OF_AN_ORDINARY_USER_IN_THE_MATRIX = [
  ...['attacks', 'conformance', 'places', 'platform', 'cli', 'hook', 'manifest', 'mcp', 'mcp-auth', 'mcp-server'],
  // Their engine is a rootless one. It ends beside attacks that use up the processes of their user.
  'containers',
].map((name) => `test/${name}/`)

/** Programs that are installed for the user who runs the tests, and containers that only root can make. */
export const NEVER_FOR_AN_ORDINARY_USER = [
  ...['hook/claude-code', 'hook/codex', 'hook/gemini', 'hook/opencode'],
  ...['mcp/conformance', 'mcp/further-servers', 'mcp/inspector', 'places/containers'],
].flatMap((name) => [`test/${name}.test.ts`, `test/${name}.matrix.test.ts`])
