// The real Gemini CLI with the hook that Cordon installs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { agentProgram, AGENT_PACKAGES } from '../../../../scripts/tests/agent-programs.mjs'
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
import type { ScriptedCall } from './scripted-model.js'

const PROGRAM = agentProgram('gemini')

const SETTINGS = '.gemini/settings.json'

let place: AgentPlace
beforeEach((context) => {
  needs(context, PROGRAM !== undefined, `npm did not install ${AGENT_PACKAGES.gemini}`)
  place = agentPlace()
  mkdirSync(join(place.home, '.gemini'))
  writeFileSync(join(place.home, SETTINGS), '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }\n')
})
afterEach(() => {
  place.remove()
})

/** Gemini CLI may run every tool without a question. Only the hook is in the way. */
const callAll = (calls: readonly ScriptedCall[], trust = 'true'): Promise<AgentRun> =>
  runAgent(place, calls, (url) => ({
    program: PROGRAM ?? '',
    words: ['-p', 'go', '--approval-mode=yolo', '-m', 'gemini-2.5-flash'],
    environment: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: trust },
  }))

const call = (name: string, input: Readonly<Record<string, unknown>>, trust?: string): Promise<AgentRun> =>
  callAll([{ name, input }], trust)

const shell = (command: string): Promise<AgentRun> => call('run_shell_command', { command })

const install = (...options: readonly string[]): void => {
  const { status, stderr } = place.cordon(['hook', 'install', 'gemini', ...options])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

describe('Gemini CLI', () => {
  test('without the hook, a command reads a file outside of the project', async () => {
    expect((await shell('cat ../secret')).results.join()).toContain('a secret')
  })

  test('a command runs in a cell: it writes in the project, and reads nothing outside', async () => {
    install()
    const { results } = await shell(`cat ../secret; echo "it's $((1 + 1))" > made; cat made`)
    expect(results.join()).toContain("it's 2")
    expect(results.join()).not.toContain('a secret')
    expect(readFileSync(join(place.workspace, 'made'), 'utf8')).toBe("it's 2\n")
  })

  test('every argument of its shell tool reaches Gemini CLI', async () => {
    install()
    mkdirSync(join(place.workspace, 'sub'))
    const given = { description: 'a command', dir_path: 'sub', is_background: false }
    await call('run_shell_command', { command: 'touch made', ...given })
    expect(isMade(place, 'sub/made')).toBe(true)
    const later = await call('run_shell_command', { command: 'sleep 5', ...given, is_background: true })
    expect(later.results.join()).toMatch(/background/i)
  })

  const OFF = '{ "hooksConfig": { "enabled": false } }\n'

  test('a project that turns hooks off turns off the hook of the user, and hook check says so', async () => {
    expect(place.cordon(['hook', 'install', 'gemini', '--user']).status).toBe(0)
    mkdirSync(join(place.workspace, '.gemini'))
    writeFileSync(join(place.workspace, SETTINGS), OFF)
    expect(place.cordon(['hook', 'check', 'gemini']).status).toBe(1)
    expect((await shell('cat ../secret')).results.join()).toContain('a secret')
  })

  test('a rule denies a command, and the model reads why', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    install()
    expect((await shell('touch made')).results.join()).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('Gemini CLI has no answer "ask", so a rule that asks denies', async () => {
    place.setRules('rules:\n  - { effect: ask, command: touch, because: somebody has to look }\n')
    install()
    expect((await shell('touch made')).results).toHaveLength(1)
    expect(isMade(place, 'made')).toBe(false)
  })

  test('writing a file is denied where no policy grants it, and works inside the project', async () => {
    install()
    const content = 'x'
    await call('write_file', { file_path: join(place.workspace, '.git/hooks/pre-commit'), content })
    expect(isMade(place, '.git/hooks/pre-commit')).toBe(false)
    await call('write_file', { file_path: join(place.workspace, 'made'), content })
    expect(isMade(place, 'made')).toBe(true)
  })

  test('a search finds no carved-out file and nothing outside of the project, and finds the rest', async () => {
    install('--read', '!carved')
    writeFileSync(join(place.workspace, 'carved'), 'NEEDLE carved\n')
    mkdirSync(join(place.workspace, 'sub'))
    writeFileSync(join(place.workspace, 'sub/open'), 'NEEDLE open\n')
    const { results } = await callAll([
      { name: 'grep_search', input: { pattern: 'NEEDLE' } },
      { name: 'read_many_files', input: { include: ['carved'] } },
      { name: 'glob', input: { pattern: '{..,x}/*' } },
      { name: 'grep_search', input: { pattern: 'NEEDLE', dir_path: 'sub' } },
      { name: 'glob', input: { pattern: '{sub,x}/*' } },
    ])
    expect(results).toHaveLength(5)
    expect(results.join()).not.toContain('NEEDLE carved')
    expect(results.join()).not.toContain(join(place.root, 'secret'))
    expect(results[3]).toContain('NEEDLE open')
    expect(results[4]).toContain('sub/open')
  })

  test('a command changes neither the program of the hook nor what it finds in .bin', async () => {
    place = withPackage(place, 'gemini')
    await shell(PLANT)
    await shell('echo again > again')
    expect(isPlanted(place)).toBe(false)
    expect([isMade(place, 'tried'), isMade(place, 'again')]).toEqual([true, true])
  })

  test.each(Object.keys(BROKEN_HOOKS) as (keyof typeof BROKEN_HOOKS)[])('a %s hook runs nothing', async (how) => {
    install()
    breakHook(join(place.workspace, SETTINGS), how)
    expect((await shell('touch made')).results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('in a folder that its user does not trust, it runs nothing', async () => {
    install()
    expect((await call('run_shell_command', { command: 'touch made' }, 'false')).results).toEqual([])
    expect(isMade(place, 'made')).toBe(false)
  })
})
