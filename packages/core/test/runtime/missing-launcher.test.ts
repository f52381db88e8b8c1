// A package that was installed without its launcher: a runtime whose tools need it does not open.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { installPackage } from '../../../../test/installed-package.js'

const PROGRAM = `
import { createCordon, tool } from 'cordon'
const options = { name: 'add', ...JSON.parse(process.argv[2]), run: ({ a, b }) => a + b }
try {
  const cordon = await createCordon({ workspace: process.cwd(), tools: [] })
  await cordon.addTool(tool(options)).catch(({ code }) => console.log('addTool:', code))
  await cordon.close()
  const other = await createCordon({ workspace: process.cwd(), tools: [tool(options)] })
  console.log((await other.call('add', { a: 1, b: 2 })).output)
  await other.close()
} catch ({ code, fix }) {
  console.log('createCordon:', code, fix)
}
`

let project = ''
beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-launcher-')))
  installPackage(project)
  writeFileSync(join(project, 'program.mjs'), PROGRAM)
})
afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

const start = (options: object): string =>
  spawnSync(process.execPath, ['program.mjs', JSON.stringify(options)], { cwd: project, encoding: 'utf8' }).stdout

test('a missing launcher rejects createCordon for a tool that needs a cell, and for no other', () => {
  const inCell = { policy: {} }
  const inProcess = { policy: { risk: 'low' }, inProcess: true }
  expect(start(inCell)).toBe('3\n')
  rmSync(join(project, 'node_modules/cordon/build'), { recursive: true })
  const said = start(inCell)
  expect(said).toContain('addTool: launcher-missing')
  expect(said).toContain('createCordon: launcher-missing run `npm rebuild cordon`')
  expect(start(inProcess)).toBe('3\n')
})
