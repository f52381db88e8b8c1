// The real opencode with the plugin that Cordon installs.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { agentProgram, AGENT_PACKAGES } from '../../../../scripts/tests/agent-programs.mjs'
import { cordon } from '../cli/cordon.js'
import { needs } from '../../../../test/requirement.js'
import {
  BROKEN_HOOKS,
  PLANT,
  agentPlace,
  breakHook,
  isMade,
  isPlanted,
  runAgent,
  withPackage,
} from './agent-process.js'
import type { AgentPlace, AgentRun } from './agent-process.js'

const PROGRAM = agentProgram('opencode')

let place: AgentPlace
beforeEach((context) => {
  needs(context, PROGRAM !== undefined, `npm did not install ${AGENT_PACKAGES.opencode}`)
  place = agentPlace()
})
afterEach(() => {
  place.remove()
})

/** opencode may run every tool without a question. Only the plugin is in the way. */
const settingsFor = (url: string) => ({
  provider: {
    anthropic: {
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'scripted', tool_call: true, limit: { context: 100_000, output: 1000 } } },
    },
  },
  small_model: 'anthropic/scripted',
  autoupdate: false,
  share: 'disabled',
  permission: 'allow',
})

const call = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, string>> = {},
): Promise<AgentRun> =>
  runAgent(place, [{ name, input }], (url) => ({
    program: PROGRAM ?? '',
    words: ['run', '-m', 'anthropic/scripted', 'go'],
    environment: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settingsFor(url)),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      // It installs a package of types for plugins at each start, and waits for that. This registry has none.
      npm_config_registry: url,
      npm_config_fetch_retries: '0',
      ...more,
    },
  }))

const bash = (command: string): Promise<AgentRun> => call('bash', { command, description: 'a command' })

const install = (): void => {
  const { status, stderr } = place.cordon(['hook', 'install', 'opencode'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

describe('opencode', () => {
  test('without the plugin, a command reads a file outside of the project', async () => {
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })

  test('a command runs in a cell: it writes in the project, and reads nothing outside', async () => {
    install()
    const { results } = await bash(`cat ../secret; echo "it's $((1 + 1))" > made; cat made`)
    expect(results.join()).toContain("it's 2")
    expect(results.join()).not.toContain('a secret')
    expect(readFileSync(join(place.workspace, 'made'), 'utf8')).toBe("it's 2\n")
  })

  test('every argument of bash reaches opencode', async () => {
    install()
    mkdirSync(join(place.workspace, 'sub'))
    const workdir = join(place.workspace, 'sub')
    const { results } = await call('bash', {
      command: 'touch made; sleep 30',
      description: 'x',
      workdir,
      timeout: 3000,
    })
    expect(isMade(place, 'sub/made')).toBe(true)
    expect(results.join()).toMatch(/time/i)
  })

  test('without plugins the hook is not in force, and hook check says so', async () => {
    install()
    const pure = { OPENCODE_PURE: '1' }
    const environment = { ...place.environment, ...pure }
    expect(cordon(['hook', 'check', 'opencode'], { cwd: place.workspace, environment }).status).toBe(1)
    expect(place.cordon(['hook', 'check', 'opencode']).status).toBe(0)
    const { results } = await call('bash', { command: 'cat ../secret', description: 'x' }, pure)
    expect(results.join()).toContain('a secret')
  })

  test('a rule denies a command, and the model reads why', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    install()
    expect((await bash('touch made')).results.join()).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('a plugin cannot ask, so a rule that asks denies', async () => {
    place.setRules('rules:\n  - { effect: ask, command: touch, because: somebody has to look }\n')
    install()
    expect((await bash('touch made')).results).toHaveLength(1)
    expect(isMade(place, 'made')).toBe(false)
  })

  test('reading a file is denied outside of the project, and works inside', async () => {
    install()
    const read = async (path: string) => (await call('read', { filePath: path })).results.join()
    expect(await read(join(place.root, 'secret'))).toContain('may not read')
    expect(await read(join(place.workspace, '.opencode/plugins/cordon.js'))).toContain('CordonPlugin')
  })

  test('a command changes neither the program of the hook nor what it finds in .bin', async () => {
    place = withPackage(place, 'opencode')
    await bash(PLANT)
    await bash('echo again > again')
    expect(isPlanted(place)).toBe(false)
    expect([isMade(place, 'tried'), isMade(place, 'again')]).toEqual([true, true])
  })

  test.each(Object.keys(BROKEN_HOOKS) as (keyof typeof BROKEN_HOOKS)[])('a %s hook runs nothing', async (how) => {
    install()
    breakHook(join(place.workspace, '.opencode/plugins/cordon.js'), how)
    expect((await bash('touch made')).results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })
})
