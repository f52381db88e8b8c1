// What a package reaches is searched anew when it changes.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { reachOfPackage } from '../../src/analysis/index.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-reach-')))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const install = (code: string, lock: string): void => {
  const place = join(folder, 'node_modules', 'small')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{ "name": "small", "main": "main.js" }')
  writeFileSync(join(place, 'main.js'), code)
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), lock)
}
const reached = () => [...(reachOfPackage('small', join(folder, 'tool.js'))?.reaches ?? ['missing'])]

test('an update that reaches more is noticed in a process that searched the package before', () => {
  install('module.exports = 1', '{ "integrity": "one" }')
  expect(reached()).toEqual([])
  install("module.exports = require('node:child_process')", '{ "integrity": "another" }')
  expect(reached()).toEqual(['programs'])
  install('module.exports = 1', '{ "integrity": "one" }  ')
  expect(reached()).toEqual([])
})
