// The package in a Node that takes itself for one on macOS. Seatbelt and a real Mac are not part of it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, expect, test } from 'vitest'

import { TEAM } from '../../../../test/repository.js'

const ROOT = join(import.meta.dirname, '..', '..')
const PRETEND = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"darwin"})'
const home = mkdtempSync(join(tmpdir(), 'cordon-macos-'))
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

const onMac = (...words: readonly string[]) =>
  spawnSync(process.execPath, ['--import', PRETEND, ...words], { cwd: home, encoding: 'utf8' })

const library = (name: string) => pathToFileURL(join(ROOT, 'dist', 'bundle', 'library', `${name}.js`)).href

const SCRIPT = `
import { createCordon, processTool, tool } from ${JSON.stringify(library('runtime'))}
import { openPglite } from ${JSON.stringify(pathToFileURL(join(TEAM, 'dist/bundle/store.js')).href)}
import { createEgress, createSecretStore } from ${JSON.stringify(library('egress'))}
const cordon = await createCordon({
  tools: [tool({ name: 'one', inProcess: true, policy: { risk: 'low' }, run: () => 1 }), processTool({ name: 'true', command: () => ['/bin/true'] })],
  workspace: process.cwd(), mode: 'on_request', telemetry: 'off', audit: { path: process.cwd() + '/log/audit.jsonl' },
})
const one = await cordon.call('one')
const cell = await cordon.call('true')
await cordon.close()
const engine = openPglite({ folder: process.cwd() + '/store' })
const rows = await engine.query('select 1 + 1 as two')
await engine.close()
console.log(JSON.stringify({ one, cell, rows, egress: typeof createEgress, secrets: typeof createSecretStore }))
`

test('an in-process tool, the audit log, the store and the proxy load and work; a cell is refused by name', () => {
  const { stdout, stderr } = onMac('--input-type=module', '-e', SCRIPT)
  expect(stderr).toBe('')
  const said = JSON.parse(stdout) as Readonly<Record<string, unknown>>
  expect(said).toMatchObject({ one: { status: 'ok' }, rows: [{ two: 2 }] })
  expect(JSON.stringify(said['cell'])).toContain('not available on this host')
})

test('doctor names macOS, what is missing, and what works without it', () => {
  const { stdout, status } = onMac(join(ROOT, 'bin', 'cordon.js'), 'doctor')
  expect(status).toBe(1)
  expect(stdout).toMatch(/^macOS /)
  expect(stdout).toMatch(/mechanisms of Linux; in-process tools, the gate/)
  expect(stdout).toMatch(/the experimental Seatbelt backend\n {4}because /)
})

test('a command that needs a cell does not run, and the error says where it would', () => {
  const { stdout, stderr, status } = onMac(join(ROOT, 'bin', 'cordon.js'), 'run', '--', 'echo', 'ran')
  expect([stdout, status]).toEqual(['', 125])
  expect(stderr).toMatch(/platform-unsupported: on macOS .*\nfix: run on Linux/)
})

test('an installation compiles nothing, says what it leaves out, and succeeds', () => {
  const { stdout, stderr, status } = onMac(join(ROOT, 'scripts', 'build-native.mjs'), '--install')
  expect(status).toBe(0)
  expect(stdout + stderr).toMatch(/left out: the launcher of cells, which needs Linux/)
})
