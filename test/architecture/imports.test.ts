import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { fileViolations } from './file-rules.js'
import { importViolations } from './import-rules.js'
import { readPackages } from './packages.js'
import { ENTRY, ROOMS, STILL, WITHOUT_INDEX } from './rooms.js'
import { FOLDERS, readTree } from './source-tree.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGES = readPackages(ROOT)

describe('this repository', () => {
  it('follows the one-way imports and the reserved rights of its rooms, except where it still does not', () => {
    const files = readTree(ROOT, FOLDERS.sources, /\.ts$/)
    expect(files.length).toBeGreaterThan(700)
    expect([...importViolations(files, PACKAGES)].sort()).toEqual([...STILL].sort())
  })

  it('imports each room with an index through it', () => {
    const without = ROOMS.filter((name) => {
      const [folder, room] = name.split('/')
      return room !== ENTRY && !existsSync(`${ROOT}packages/${folder}/src/${room}/index.ts`)
    })
    expect([...WITHOUT_INDEX].sort()).toEqual(without.sort())
  })

  it('has small files with descriptive names', () => {
    const folders = [...FOLDERS.sources, ...FOLDERS.native, ...FOLDERS.tests, ...FOLDERS.scripts]
    expect(fileViolations(readTree(ROOT, folders, /\.(ts|mjs|js|c|h)$/))).toEqual([])
  })
})

const check = (path: string, text: string) => importViolations([{ path: `packages/${path}`, text }], PACKAGES)

describe('the import rules', () => {
  it.each([
    ['core/src/policy/a.ts', "import { fail } from '../errors/index.js'"],
    ['core/src/policy/a.ts', "import { b } from './b.js'\nimport { c } from './deep/c.js'"],
    ['core/src/policy/a.ts', "import { parse } from 'yaml'"],
    [
      'core/src/sandbox/a.ts',
      "import { spawn } from 'node:child_process'\nimport type { Boundary } from '../policy/index.js'",
    ],
    ['core/src/runtime/a.ts', "import { Door } from '../door/index.js'\nimport { hold } from '../manifest/index.js'"],
    ['core/src/hook/a.ts', "import { flag } from '../line/arguments.js'\nimport { runGate } from '../run/run-gate.js'"],
    ['core/src/run/a.ts', "import { openAuditLog } from '../runtime/audit/index.js'"],
    [
      'core/src/commands/main.ts',
      "import { openSandbox } from '../sandbox/index.js'\nconst a = process.argv, b = process.env['HOME']",
    ],
    ['mcp/src/bridge/a.ts', "import { spawn } from 'node:child_process'\nconst words = process.argv"],
    [
      'mcp/src/gateway/a.ts',
      "import { createCordon } from 'cordon'\nimport type { Fields } from '../wire/messages.js'",
    ],
    ['team/src/server/a.ts', "import { openRegistry } from '../store/index.js'\nimport { Door } from 'cordon/runtime'"],
    ['team/src/index.ts', "export { startRunner } from './runner/start-runner.js'"],
    ['manifest/src/verify/a.ts', "import { beyond } from 'cordon/policy'\nimport { flow } from '../flow/flow.js'"],
    ['eslint/src/a.ts', "import { analyseTool } from '@cordon/manifest/analysis'\nimport { Rule } from 'eslint'"],
    ['adapters/src/ai.ts', "import { cells } from './cells.js'\nimport type { Cordon } from 'cordon'"],
    ['adapters/src/ai.ts', "const schema = await import('cordon/schemas/permission-decision.json')"],
    ['core/src/sandbox/a.ts', 'process.once("exit", stop); const a = process.pid'],
    ['core/src/platform/a.ts', 'const system = process.platform'],
    ['core/src/sandbox/a.ts', '// process.env is not read here\nconst text = "process.env"'],
  ])('accept %s with %j', (path, text) => {
    expect(check(path, text)).toEqual([])
  })

  it.each([
    ['upwards', 'core/src/errors/a.ts', "import { x } from '../policy/index.js'"],
    ['upwards, types only', 'core/src/policy/a.ts', "import type { X } from '../sandbox/index.js'"],
    ['upwards, re-exported', 'core/src/policy/a.ts', "export { x } from '../gate/index.js'"],
    ['upwards, dynamically', 'core/src/sandbox/a.ts', "const m = await import('../runtime/index.js')"],
    ['upwards, a file', 'core/src/line/a.ts', "import { x } from '../run/run-gate.js'"],
    ['upwards in another package', 'mcp/src/wire/a.ts', "import { x } from '../gateway/index.js'"],
    ['the entry of its package', 'team/src/runner/a.ts', "import { x } from '../index.js'"],
    ['sideways', 'core/src/sandbox/a.ts', "import { x } from '../egress/index.js'"],
    ['sideways in another package', 'team/src/server/a.ts', "import { x } from '../tools/registration.js'"],
    ['past the index', 'core/src/sandbox/a.ts', "import { x } from '../policy/globs.js'"],
    ['past the index of a part', 'core/src/run/a.ts', "import { x } from '../runtime/audit/turn.js'"],
    ['out of src', 'core/src/sandbox/a.ts', "import { x } from '../../test/x.js'"],
    ['an unknown room', 'core/src/sandbox/a.ts', "import { x } from '../utils/index.js'"],
    ['from an unknown room', 'core/src/utils/a.ts', 'export const a = 1'],
    ['from no room of the core', 'core/src/a.ts', 'export const a = 1'],
    ['from an unknown package', 'tools/src/policy/a.ts', 'export const a = 1'],
    ['from no package', 'a.ts', 'export const a = 1'],
    ['another package by its path', 'mcp/src/http/a.ts', "import { x } from '../../../core/src/door/index.js'"],
    [
      'another package by its path in dist',
      'mcp/src/http/a.ts',
      "import { x } from '../../../core/dist/door/index.js'",
    ],
    ['the inside of another package', 'mcp/src/http/a.ts', "import { x } from 'cordon/dist/door/index.js'"],
    ['no entry of another package', 'mcp/src/http/a.ts', "import { x } from 'cordon/door'"],
    ['a package around the core, from the core', 'core/src/commands/a.ts', "await import('@cordon/mcp/commands')"],
    ['its own package by name', 'core/src/commands/a.ts', "import { fail } from 'cordon/errors'"],
    ['a sibling', 'mcp/src/servers/a.ts', "import { verify } from '@cordon/manifest'"],
    ['the plugin', 'manifest/src/project/a.ts', "import { rules } from 'eslint-plugin-cordon'"],
    ['what its package does not depend on', 'core/src/egress/a.ts', "import { Client } from 'pg'"],
    ['what runs tools, from the server', 'team/src/server/a.ts', "import { createCordon } from 'cordon'"],
    ['what connects tools, from the server', 'team/src/server/a.ts', "import { createEgress } from 'cordon/egress'"],
    ['parts of the runtime, from the server', 'team/src/server/a.ts', "import { openCordon } from 'cordon/runtime'"],
    ['I/O in policy', 'core/src/policy/a.ts', "import { readFileSync } from 'node:fs'"],
    ['I/O in policy, without prefix', 'core/src/policy/a.ts', "import { readFileSync } from 'fs'"],
    ['I/O in what compares manifests', 'manifest/src/verify/a.ts', "import { readFileSync } from 'node:fs'"],
    ['the runtime in what compares manifests', 'manifest/src/flow/a.ts', "import { createCordon } from 'cordon'"],
    ['processes outside of sandbox', 'core/src/commands/a.ts', "import { spawn } from 'child_process'"],
    ['processes of the gateway', 'mcp/src/gateway/a.ts', "import { spawn } from 'node:child_process'"],
    ['process.env', 'core/src/sandbox/a.ts', 'const home = process.env.HOME'],
    ['process.env by index', 'core/src/sandbox/a.ts', "const home = process['env']"],
    ['process.env by unpacking', 'core/src/sandbox/a.ts', 'const { env: host } = process'],
    ['process.env by way of globalThis', 'core/src/sandbox/a.ts', 'const home = globalThis.process.env'],
    ['process.env by import', 'core/src/sandbox/a.ts', "import { env } from 'node:process'"],
    ['process.env in an adapter', 'adapters/src/ai.ts', 'const home = process.env.HOME'],
    ['process.platform', 'core/src/commands/a.ts', 'const system = process.platform'],
    ['process.argv', 'core/src/policy/a.ts', 'const a = process.argv[2]'],
  ])('refuse %s', (_, path, text) => {
    expect(check(path, text)).toHaveLength(1)
  })
})

describe('the file rules', () => {
  const problems = (path: string, lines = 1) => fileViolations([{ path, text: 'x\n'.repeat(lines) }])

  it.each([
    'packages/core/src/policy/glob/path-glob.ts',
    'packages/core/test/policy/globs.test.ts',
    'packages/core/native/fuzz/plan.c',
    'eslint.config.mjs',
  ])('accept %s', (path) => {
    expect(problems(path)).toEqual([])
  })

  it.each([
    'packages/core/src/policy/pathGlob.ts',
    'packages/core/src/policy/PathGlob.ts',
    'packages/core/src/policy/path_glob.ts',
    'packages/core/src/utils/path.ts',
    'packages/core/src/policy/path-helpers.ts',
  ])('refuse %s', (path) => {
    expect(problems(path)).toHaveLength(1)
  })

  it('refuse a file beyond 400 lines, and a test beyond 640', () => {
    expect(problems('packages/core/src/policy/long.ts', 400)).toEqual([])
    expect(problems('packages/core/src/policy/long.ts', 401)).toHaveLength(1)
    expect(problems('packages/core/test/policy/long.test.ts', 640)).toEqual([])
    expect(problems('packages/core/test/policy/long.test.ts', 641)).toHaveLength(1)
  })
})
