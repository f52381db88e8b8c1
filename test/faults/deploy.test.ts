// What deploy/ says works: a database that the command line prepared, and the logins of the example.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { readDocument } from '../../src/policy/index.js'
import { openPostgres } from '../../src/store/index.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'

const ROOT = join(import.meta.dirname, '..', '..')
let server: Server
beforeAll(() => { server = startServer() })
afterAll(() => { server.remove() })
const cordon = (...words: readonly string[]) => execFileSync(process.execPath, [join(ROOT, 'bin', 'cordon.js'), ...words], { env: { PATH: process.env['PATH'], CORDON_DATABASE: server.url() }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

test('a database is prepared once, and again without harm; the logins of the example are members of the team', async () => {
  cordon('runner', '--prepare')
  cordon('runner', '--prepare')
  const engine = openPostgres({ url: server.url() })
  const logins = readFileSync(join(ROOT, 'deploy', 'logins.sql'), 'utf8')
  await engine.execute(logins)
  await engine.execute(logins)
  expect(await engine.query('select actor, kind from agents.members order by actor')).toEqual([{ actor: 'agent-1', kind: 'agent' }, { actor: 'anna', kind: 'operator' }, { actor: 'postgres', kind: 'admin' }, { actor: 'runner', kind: 'runner' }])
  await engine.close()
})

test('a database that was not prepared is refused with the way out, and so is what is no tool; a tool is shown as the registry takes it', () => {
  const problem = (...words: readonly string[]): string => {
    try {
      cordon(...words)
      return 'it worked'
    } catch (error) {
      return String((error as { stderr?: unknown }).stderr)
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'cordon-deploy-'))
  const tools = join(folder, 'tools.yaml')
  writeFileSync(tools, 'tools: [{ name: say, command: [echo, "{text}"] }]')
  expect(problem('runner', '--database', server.url('postgres', 'template1'), '--tools', tools)).toContain('runner-queue-missing')
  expect(JSON.parse(cordon('runner', '--tools', tools, '--registration', 'say'))).toMatchObject({ key: 'say', egress_class: 'none', definition: { kind: 'process', command: ['echo', '{text}'], hash: expect.stringMatching(/^sha256:/) as string, policy: {} } })
  rmSync(folder, { recursive: true })
  expect(problem('runner', '--tools', join(ROOT, 'package.json'))).toContain('unknown key')
  expect(problem('runner', '--concurrency', '0', '--tools', join(ROOT, 'package.json'))).toContain('from 1 to 1000')
})

test('the compose file and the unit use options that exist', () => {
  const compose = JSON.stringify(readDocument(readFileSync(join(ROOT, 'deploy', 'docker-compose.yaml'), 'utf8'), 'docker-compose.yaml').value)
  const unit = readFileSync(join(ROOT, 'deploy', 'cordon-runner.service'), 'utf8')
  const help = cordon('runner', '--help')
  for (const [, option = ''] of `${compose.replaceAll('--yes', '').replaceAll(/--(?:set|file|package)=/g, '')} ${/^ExecStart=.*$/m.exec(unit)?.[0] ?? ''}`.matchAll(/(--[a-z]+)/g)) expect(help).toContain(`${option} `)
})
