// A package of Cordon that was not updated together with the core.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { installPackage } from '../../../../test/installed-package.js'

let root = ''
let command = ''
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-stale-')))
  mkdirSync(join(root, 'home'))
  const project = join(root, 'project')
  command = installPackage(project)
  const team = join(project, 'node_modules/@cordon/team')
  mkdirSync(team, { recursive: true })
  const stale = { name: '@cordon/team', version: '0.0.1', exports: { './commands': { default: './commands.js' } } }
  writeFileSync(join(team, 'package.json'), JSON.stringify(stale))
  writeFileSync(join(team, 'commands.js'), 'throw new Error("the code of another version ran")\n')
  expect(cordon('run', '--mode', 'never', '--', 'true')).toMatchObject({ status: 0 })
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

const cordon = (...words: readonly string[]) => {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: join(root, 'home'), NO_COLOR: '1' }
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: root, encoding: 'utf8', env: environment })
  return { status, stdout, stderr }
}

test.each([
  ['why last', 'true'],
  ['log show', 'true'],
  ['completion bash', 'mcp'],
  ['explain product-version', 'another version'],
])('cordon %s leaves out a package of another version, and says so in one line', (line, part) => {
  const { status, stdout, stderr } = cordon(...line.split(' '))
  expect([status, stdout]).toEqual([0, expect.stringContaining(part) as string])
  expect(stderr).toMatch(/^cordon: left out: @cordon\/team has the version 0\.0\.1, [^\n]*; fix: npm install [^\n]*\n$/)
})

test('a command of that package is refused, and one of a package of the same version runs', () => {
  expect(cordon('team', '--help').stderr).toContain('product-version: @cordon/team has the version 0.0.1')
  expect(cordon('mcp', 'list')).toMatchObject({ status: 0, stderr: '' })
})
