// A database that the command line prepared, and the logins of deploy/logins.sql.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { CORDON } from '../repository.js'
import { openPostgres } from '../../packages/team/src/store/index.js'
import { startServer } from '../../packages/team/test/store/server.js'
import type { Server } from '../../packages/team/test/store/server.js'
import { IN_MATRIX } from '../turns.js'

import { ROOT, deployFile } from './deploy-files.js'

let server: Server
beforeAll(() => {
  server = startServer()
})
afterAll(() => {
  server.remove()
})
const cordon = (...words: readonly string[]) =>
  execFileSync(process.execPath, [CORDON, ...words], {
    env: { PATH: process.env['PATH'], CORDON_DATABASE: server.url() },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

test('a database can be prepared twice, and the logins of the example are members of the team', async () => {
  cordon('runner', '--prepare')
  cordon('runner', '--prepare')
  const engine = openPostgres({ url: server.url() })
  const logins = deployFile('logins.sql')
  await engine.execute(logins)
  await engine.execute(logins)
  expect(await engine.query('select actor, kind from agents.members order by actor')).toEqual([
    { actor: 'ada', kind: 'admin' },
    { actor: 'agent-1', kind: 'agent' },
    { actor: 'anna', kind: 'operator' },
    { actor: 'postgres', kind: 'admin' },
    { actor: 'runner', kind: 'runner' },
  ])
  // An agent runs its calls itself, without being a runner; somebody who only approves runs none.
  const [agent, anna] = [openPostgres({ url: server.url('agent-1') }), openPostgres({ url: server.url('anna') })]
  const heartbeat = (by: typeof agent) =>
    by.query(`select agents.fn_heartbeat('laptop/0', '{}', '{}', '{}', false, '1 minute')`)
  expect(await heartbeat(agent)).toHaveLength(1)
  await expect(heartbeat(anna)).rejects.toMatchObject({ code: 'store-refused' })
  await agent.close()
  await anna.close()
  await engine.close()
})

test(
  'a database that was not prepared is refused with the way out, and so is what is no tool; a tool is shown as ' +
    'the registry takes it',
  IN_MATRIX,
  () => {
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
    expect(problem('runner', '--database', server.url('postgres', 'template1'), '--tools', tools)).toContain(
      'runner-queue-missing',
    )
    expect(problem('team', 'tools', 'list', '--database', server.url('postgres', 'template1'))).toMatch(
      /store-not-prepared: .*\nfix: .*cordon runner --prepare/,
    )
    expect(JSON.parse(cordon('runner', '--tools', tools, '--registration', 'say'))).toMatchObject({
      key: 'say',
      egress_class: 'none',
      definition: {
        kind: 'process',
        command: ['echo', '{text}'],
        hash: expect.stringMatching(/^sha256:/) as string,
        policy: {},
      },
    })
    rmSync(folder, { recursive: true })
    expect(problem('runner', '--tools', join(ROOT, 'package.json'))).toContain('unknown key')
    expect(problem('runner', '--concurrency', '0', '--tools', join(ROOT, 'package.json'))).toContain('from 1 to 1000')
  },
)
