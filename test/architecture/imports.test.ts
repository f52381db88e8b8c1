import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { fileViolations } from './file-rules.js'
import { importViolations } from './import-rules.js'
import { readTree } from './source-tree.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('this repository', () => {
  it('follows the one-way imports and the reserved rights of its rooms', () => {
    const files = readTree(ROOT, ['src'], /\.ts$/)
    expect(files.length).toBeGreaterThan(20)
    expect(importViolations(files)).toEqual([])
  })

  it('has small files with descriptive names', () => {
    const files = readTree(ROOT, ['src', 'test', 'scripts', 'bin', 'bench', 'native'], /\.(ts|mjs|js|c|h)$/)
    expect(fileViolations(files)).toEqual([])
  })
})

const check = (path: string, text: string) => importViolations([{ path, text }])

describe('the import rules', () => {
  it.each([
    ['src/policy/a.ts', "import { fail } from '../errors/index.js'"],
    ['src/policy/a.ts', "import { b } from './b.js'\nimport { c } from './deep/c.js'"],
    ['src/policy/a.ts', "import { parse } from 'yaml'"],
    [
      'src/sandbox/a.ts',
      "import { spawn } from 'node:child_process'\nimport type { Boundary } from '../policy/index.js'",
    ],
    [
      'src/cli/main.ts',
      "import { openSandbox } from '../sandbox/index.js'\nconst a = process.argv, b = process.env['HOME']",
    ],
    ['src/mcp/bridge/a.ts', "import { spawn } from 'node:child_process'\nconst words = process.argv"],
    ['src/server/a.ts', "import { openRegistry } from '../store/index.js'"],
    ['src/sandbox/a.ts', 'process.once("exit", stop); const a = process.pid'],
    ['src/platform/a.ts', 'const system = process.platform'],
    ['src/sandbox/a.ts', '// process.env is not read here\nconst text = "process.env"'],
  ])('accept %s with %j', (path, text) => {
    expect(check(path, text)).toEqual([])
  })

  it.each([
    ['upwards', 'src/errors/a.ts', "import { x } from '../policy/index.js'"],
    ['upwards, types only', 'src/policy/a.ts', "import type { X } from '../sandbox/index.js'"],
    ['upwards, re-exported', 'src/policy/a.ts', "export { x } from '../gate/index.js'"],
    ['upwards, dynamically', 'src/sandbox/a.ts', "const m = await import('../runtime/index.js')"],
    ['sideways', 'src/sandbox/a.ts', "import { x } from '../egress/index.js'"],
    [
      'what runs or connects tools, from the server',
      'src/server/a.ts',
      "import { createEgress } from '../egress/index.js'",
    ],
    ['past the index', 'src/sandbox/a.ts', "import { x } from '../policy/globs.js'"],
    ['out of src', 'src/sandbox/a.ts', "import { x } from '../../test/x.js'"],
    ['an unknown room', 'src/sandbox/a.ts', "import { x } from '../utils/index.js'"],
    ['from an unknown room', 'src/utils/a.ts', 'export const a = 1'],
    ['from no room', 'src/a.ts', 'export const a = 1'],
    ['I/O in policy', 'src/policy/a.ts', "import { readFileSync } from 'node:fs'"],
    ['I/O in policy, without prefix', 'src/policy/a.ts', "import { readFileSync } from 'fs'"],
    ['processes outside of sandbox', 'src/cli/a.ts', "import { spawn } from 'child_process'"],
    ['processes of the gateway', 'src/mcp/a.ts', "import { spawn } from 'node:child_process'"],
    ['process.env', 'src/sandbox/a.ts', 'const home = process.env.HOME'],
    ['process.env by index', 'src/sandbox/a.ts', "const home = process['env']"],
    ['process.env by unpacking', 'src/sandbox/a.ts', 'const { env: host } = process'],
    ['process.env by way of globalThis', 'src/sandbox/a.ts', 'const home = globalThis.process.env'],
    ['process.env by import', 'src/sandbox/a.ts', "import { env } from 'node:process'"],
    ['process.platform', 'src/cli/a.ts', 'const system = process.platform'],
    ['process.argv', 'src/policy/a.ts', 'const a = process.argv[2]'],
  ])('refuse %s', (_, path, text) => {
    expect(check(path, text)).toHaveLength(1)
  })
})

describe('the file rules', () => {
  const problems = (path: string, lines = 1) => fileViolations([{ path, text: 'x\n'.repeat(lines) }])

  it.each(['src/policy/glob/path-glob.ts', 'test/policy/globs.test.ts', 'native/fuzz/plan.c', 'eslint.config.mjs'])(
    'accept %s',
    (path) => {
      expect(problems(path)).toEqual([])
    },
  )

  it.each([
    'src/policy/pathGlob.ts',
    'src/policy/PathGlob.ts',
    'src/policy/path_glob.ts',
    'src/utils/path.ts',
    'src/policy/path-helpers.ts',
  ])('refuse %s', (path) => {
    expect(problems(path)).toHaveLength(1)
  })

  it('refuse a file beyond 400 lines', () => {
    expect(problems('src/policy/long.ts', 400)).toEqual([])
    expect(problems('src/policy/long.ts', 401)).toHaveLength(1)
  })
})
