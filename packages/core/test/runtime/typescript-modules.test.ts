import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { tool } from '../../src/runtime/index.js'
import { toolHash } from '../../../team/src/tools/tool-hash.js'
import { stripsTypes } from '../../src/runtime/tools/typescript-modules.js'

import { openStage } from './stage.js'

const stage = openStage()

const HERE = stripsTypes(process.versions.node, (process.features as { typescript?: unknown }).typescript)

/** A module with an import of its own, and a file beside it. */
const written = (): string => {
  const folder = stage.newFolder()
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'types.ts'), 'export interface Input { readonly n: number; readonly path?: string }')
  writeFileSync(join(folder, 'double.ts'), 'export const double = (n: number): number => 2 * n')
  writeFileSync(join(folder, 'other.ts'), 'export const other = 1')
  writeFileSync(
    join(folder, 'main.ts'),
    `import { readFileSync } from 'node:fs'
import type { Input } from './types.ts'
import { double } from './double.ts'
export const run = ({ n, path }: Input): number | string => path === undefined ? double(n) : readFileSync(path, 'utf8')
`,
  )
  return folder
}

const toolOf = (folder: string, file = 'main.ts') =>
  tool({ name: 'typed', module: pathToFileURL(join(folder, file)), export: 'run', argumentGate: 'off' })

test.each([
  ['20.20.2', undefined, false],
  ['22.17.1', 'strip', false],
  ['22.18.0', 'strip', true],
  ['22.18.0', false, false],
  ['23.5.0', 'strip', false],
  ['23.6.0', 'strip', true],
  ['24.0.0', 'strip', true],
])('Node %s with the feature %s strips types in a cell: %s', (version, features, isStripping) => {
  expect(stripsTypes(version, features)).toBe(isStripping)
})

test('a module in TypeScript runs where Node strips types, and elsewhere the error says what to do', async () => {
  const folder = written()
  const made = stage.cordon({ tools: [toolOf(folder)] })
  if (!HERE) {
    await expect(made).rejects.toMatchObject({
      code: 'module-typescript',
      message: expect.stringContaining(process.versions.node) as string,
      fix: expect.stringContaining('22.18') as string,
    })
    return
  }
  const cordon = await made
  expect(await cordon.call('typed', { n: 21 })).toMatchObject({ status: 'ok', output: 42 })
  expect(await cordon.call('typed', { n: 1, path: join(folder, 'other.ts') })).toMatchObject({ status: 'violated' })
  const before = toolHash(toolOf(folder))
  writeFileSync(join(folder, 'double.ts'), 'export const double = (n: number): number => 3 * n')
  expect(toolHash(toolOf(folder))).not.toBe(before)
})

test('a module in JavaScript runs everywhere, and one with JSX nowhere', async () => {
  const folder = stage.newFolder()
  for (const file of ['main.mjs', 'main.tsx']) writeFileSync(join(folder, file), 'export const run = () => 1')
  const cordon = await stage.cordon({ tools: [toolOf(folder, 'main.mjs')] })
  expect(await cordon.call('typed', {})).toMatchObject({ status: 'ok', output: 1 })
  await expect(stage.cordon({ tools: [toolOf(folder, 'main.tsx')] })).rejects.toMatchObject({
    code: 'module-typescript',
  })
})
