// What a package reaches is searched anew when it changes.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

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
const reached = () => [...(reachOfPackage('small', join(folder, 'tool.js'))?.reaches.keys() ?? ['missing'])]

test('an update that reaches more is noticed in a process that searched the package before', () => {
  install('module.exports = 1', '{ "integrity": "one" }')
  expect(reached()).toEqual([])
  install("module.exports = require('node:child_process')", '{ "integrity": "another" }')
  expect(reached()).toEqual(['programs'])
  install('module.exports = 1', '{ "integrity": "one" }  ')
  expect(reached()).toEqual([])
})

/** A package by the files of it. The answer is about `specifier` of it. */
const reachesOf = (files: Readonly<Record<string, string>>, specifier = 'other'): readonly string[] => {
  const place = join(folder, 'node_modules', 'other')
  rmSync(place, { recursive: true, force: true })
  for (const [name, text] of Object.entries({ 'package.json': '{ "name": "other" }', ...files })) {
    mkdirSync(dirname(join(place, name)), { recursive: true })
    writeFileSync(join(place, name), text)
  }
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify(files))
  return [...(reachOfPackage(specifier, join(folder, 'tool.js'))?.reaches.keys() ?? ['missing'])].sort()
}
const manifest = (more: object): string => JSON.stringify({ name: 'other', type: 'module', ...more })

test.each([
  ['fetch of the global object', "globalThis.fetch('https://x')", 'hosts'],
  ['fetch that is taken from the global object', 'const { fetch: get } = globalThis\nget()', 'hosts'],
  ['fetch under another name', 'const get = fetch\nexports.x = () => get()', 'hosts'],
  ['a member of the global object with a computed name', 'exports.x = (name) => globalThis[name]()', 'opaque'],
  ['variables of an imported process', "const { env } = require('node:process')\nexports.x = env.TOKEN", 'variables'],
  ['variables of a process under another name', 'const p = process\nexports.x = p.env', 'variables'],
  ['getBuiltinModule', "process.getBuiltinModule('node:fs').rmSync('x')", 'files'],
  ['getBuiltinModule of a computed name', 'exports.x = (n) => process.getBuiltinModule(n)', 'opaque'],
  ['createRequire', "require('module').createRequire(__filename)('child_process')", 'programs'],
  ['a thread', "new (require('worker_threads').Worker)('x', { eval: true })", 'opaque'],
  ['native code by dlopen', "process.dlopen({ exports: {} }, './x')", 'opaque'],
  ['require under another name', "const load = require\nload('fs')", 'files'],
  ['require of a computed name', 'exports.x = (n) => require(n)', 'opaque'],
  ['an escaped name', "exports.x = () => \\u0066etch('x')", 'hosts'],
  ['compiled code', 'exports.x = (b) => new WebAssembly.Module(b)', 'opaque'],
  ['a package that cannot be found', "require('nowhere')", 'opaque'],
])('a package reaches what its text says: %s', (_, text, reach) => {
  expect(reachesOf({ 'index.js': text })).toEqual([reach])
})

test('a package that only tests for globals, and has words of its own for them, reaches nothing', () => {
  const text =
    'const root = typeof globalThis !== "undefined" ? globalThis : {}\n' +
    'function send(fetch) { return fetch(1) }\nconst process = { env: {} }\n' +
    'exports.x = () => [root.Array, process.env.A, send(() => 1), typeof fetch, { fetch: 1 }.fetch]\n' +
    "exports.y = require('node:path').join\nmodule.exports.z = 1"
  expect(reachesOf({ 'index.js': text })).toEqual([])
})

test('the part of a package that is imported counts, and not its entry', () => {
  const files = { 'index.js': '', 'part.js': "require('net')", 'package.json': '{ "name": "other" }' }
  expect(reachesOf(files, 'other/part.js')).toEqual(['hosts'])
  expect(reachesOf(files)).toEqual([])
  const exported = {
    ...files,
    'package.json': manifest({ type: 'commonjs', exports: { '.': './index.js', './p': './part.js' } }),
  }
  expect(reachesOf(exported, 'other/p')).toEqual(['hosts'])
})

test('imports of the package itself, by names in its package.json, are followed', () => {
  const text = "import '#inner'"
  const imports = { '#inner': './inner.js' }
  expect(
    reachesOf({
      'package.json': manifest({ imports, exports: './a.js' }),
      'a.js': text,
      'inner.js': "import 'node:fs'",
    }),
  ).toEqual(['files'])
  expect(reachesOf({ 'package.json': manifest({ imports, exports: './a.js' }), 'a.js': text, 'inner.js': '' })).toEqual(
    [],
  )
})

test('a package may have another entry for import than for require, and both count', () => {
  const exports = { import: './a.mjs', require: './b.cjs' }
  const files = { 'package.json': manifest({ exports }), 'a.mjs': "import 'node:http'", 'b.cjs': "require('fs')" }
  expect(reachesOf(files)).toEqual(['files', 'hosts'])
})

test('entries of TypeScript are read', () => {
  const files = { 'package.json': manifest({ exports: './a.ts' }), 'a.ts': "import { b } from './b.ts'\nb() as number" }
  expect(reachesOf({ ...files, 'b.ts': 'export const b = (): unknown => fetch("x")' })).toEqual(['hosts'])
  expect(reachesOf({ ...files, 'b.ts': 'export const b = (): unknown => 1' })).toEqual([])
})

test('native code is named: by its file, and by what compiles it', () => {
  expect(reachesOf({ 'index.js': "require('./a.node')", 'a.node': '' })).toEqual(['native code'])
  expect(reachesOf({ 'index.js': '', 'binding.gyp': '{}' })).toEqual(['native code'])
})

test('no package is trusted for its name', () => {
  const place = join(folder, 'node_modules', 'lodash')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{ "name": "lodash" }')
  writeFileSync(join(place, 'index.js'), "require('child_process')")
  expect([...(reachOfPackage('lodash', join(folder, 'tool.js'))?.reaches.keys() ?? [])]).toEqual(['programs'])
})
