// `cordon why` of a call that the gateway refused names files and options of `cordon mcp`, and no code.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon as commandLine } from '../../../core/test/cli/cordon.js'
import { CORDON, HOSTILE, STARTABLE, folderWith, metaOf, openProgram, textOf } from './gateway.js'

const stage = () => {
  const folder = folderWith({ 'tools.yaml': 'echo: server\n' })
  const config = folderWith({})
  mkdirSync(join(config, 'cordon'))
  const environment = { HOME: '/var/empty', XDG_CONFIG_HOME: config, CORDON_AUDIT: join(config, 'audit.jsonl') }
  const callEcho = async (...words: readonly string[]): Promise<unknown> => {
    const start = [process.execPath, CORDON, 'mcp', ...STARTABLE, ...words, '--', 'node', HOSTILE]
    const { client } = await openProgram(folder, start, {}, undefined, environment)
    const result = await client.callTool({ name: 'echo', arguments: { words: 'hi' } })
    await client.close()
    return result
  }
  return {
    callEcho,
    rules: join(config, 'cordon', 'rules.yaml'),
    /** Not of the last call, which is the start of the server. */
    why: (): string => {
      const cordon = (...words: readonly string[]) => commandLine(words, { cwd: folder, environment }).stdout
      const [, id = ''] = / (?<id>[0-9a-f]{8}) +echo: /.exec(cordon('log', 'show')) ?? []
      return cordon('why', id)
    },
  }
}

test('a tool without a policy: the line of its policy, of a rule, and the question to the client', async () => {
  const { callEcho, why, rules } = stage()
  expect(metaOf(await callEcho())).toMatchObject({ 'cordon/status': 'denied' })
  const text = why()
  expect(text).toContain('give it a policy in mcp.yaml, such as: ')
  expect(text).toContain(`add to the rules in ${rules}: - { effect: allow, tool: "echo"`)
  expect(text).toContain('cordon mcp --ask client')
  expect(text).not.toContain('createCordon')
  // The named line lets it run.
  expect(textOf(await callEcho('--tools', 'tools.yaml'))).toBe('hi')
})

test('a mode that asks about a call within its policy: the mode that does not', async () => {
  const { callEcho, why } = stage()
  expect(metaOf(await callEcho('--tools', 'tools.yaml', '--mode', 'untrusted'))).toMatchObject({
    'cordon/status': 'denied',
  })
  const text = why()
  expect(text).toContain('cordon mcp --mode on_request')
  expect(text).not.toContain('createCordon')
})
