// The real Claude Code with the hook that Cordon installs.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, cpSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { agentProgram, AGENT_PACKAGES } from '../../../../scripts/tests/agent-programs.mjs'
import { CORDON } from '../cli/cordon.js'
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

const PROGRAM = agentProgram('claude')

const SETTINGS = '.claude/settings.local.json'
const ASK = 'rules:\n  - { effect: ask, command: "touch **", because: somebody has to look }\n'

let place: AgentPlace
beforeEach((context) => {
  needs(context, PROGRAM !== undefined, `npm did not install ${AGENT_PACKAGES.claude}`)
  place = agentPlace()
})
afterEach(() => {
  place.remove()
})

/** Claude Code may run every Bash command without a question. Only the hook is in the way. */
const WORDS = ['-p', '--allowedTools=Bash,Read,Write']

const commandFor = (more: readonly string[]) => (url: string) => ({
  program: PROGRAM ?? '',
  words: [...WORDS, ...more],
  environment: {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
})

const call = (name: string, input: Readonly<Record<string, unknown>>): Promise<AgentRun> =>
  runAgent(place, [{ name, input }], commandFor(['go']))

const bash = (command: string): Promise<AgentRun> => call('Bash', { command })

/** A program that uses Claude Code answers its questions. */
const bashWithPerson = (command: string, behavior: 'allow' | 'deny', mode = 'default'): Promise<AgentRun> =>
  runAgent(place, [{ name: 'Bash', input: { command } }], (url) => ({
    ...commandFor([
      ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
      ...['--permission-prompt-tool', 'stdio', '--permission-mode', mode],
    ])(url),
    dialog: {
      first: JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } }),
      reply: (line) => {
        const said = JSON.parse(line) as {
          readonly type: string
          readonly request_id?: string
          readonly request?: { readonly input: unknown }
        }
        if (said.type === 'result') return 'end'
        if (said.type !== 'control_request') return undefined
        const response =
          behavior === 'allow' ? { behavior, updatedInput: said.request?.input } : { behavior, message: 'I say no' }
        return JSON.stringify({
          type: 'control_response',
          response: { subtype: 'success', request_id: said.request_id, response },
        })
      },
    },
  }))

const install = (...options: readonly string[]): void => {
  const { status, stderr } = place.cordon(['hook', 'install', 'claude-code', ...options])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

const isReadable = (path: string): boolean => {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return true
  try {
    accessSync(path, status.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK)
    return status.isDirectory() || status.isFile()
  } catch {
    return false
  }
}

describe('Claude Code', () => {
  test('without the hook, a command reads a file outside of the project', async () => {
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })

  test('a command runs in a cell: it writes in the project, and reads nothing outside', async () => {
    install()
    const { results } = await bash(`cat ../secret; echo "it's $((1 + 1))" > made; cat made`)
    expect(results.join()).toContain("it's 2")
    expect(results.join()).not.toContain('a secret')
    expect(readFileSync(join(place.workspace, 'made'), 'utf8')).toBe("it's 2\n")
  })

  test('a command in the background runs in a cell', async () => {
    install()
    await call('Bash', { command: 'cat ../secret > made; echo ran >> made', run_in_background: true })
    await expect
      .poll(() => (isMade(place, 'made') ? readFileSync(join(place.workspace, 'made'), 'utf8') : ''))
      .toBe('ran\n')
  })

  test('a rule denies a command, and the model reads why', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    install()
    const { results } = await bash('touch made')
    expect(results.join()).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
    expect(place.cordon(['why', 'last']).stdout).toContain('nothing is made here')
  })

  test('a rule asks: the command runs in its cell after a yes', async () => {
    place.setRules(ASK)
    install()
    const { results, questions } = await bashWithPerson('touch made && cat ../secret; ls', 'allow')
    expect(questions.join()).toContain('somebody has to look')
    expect(results.join()).toContain('made')
    expect(results.join()).not.toContain('a secret')
    expect(isMade(place, 'made')).toBe(true)
  })

  test('a rule asks: nothing runs after a no', async () => {
    place.setRules(ASK)
    install()
    const { results, questions } = await bashWithPerson('touch made', 'deny')
    expect(questions).toHaveLength(1)
    expect(results).toEqual(['I say no'])
    expect(isMade(place, 'made')).toBe(false)
  })

  test.each(['acceptEdits', 'auto', 'dontAsk'])('a rule asks in the mode %s of Claude Code', async (mode) => {
    place.setRules(ASK)
    install()
    expect((await bashWithPerson('touch made', 'deny', mode)).questions).toHaveLength(1)
    expect(isMade(place, 'made')).toBe(false)
  })

  test('a rule asks, and nobody can answer: nothing runs', async () => {
    place.setRules(ASK)
    install()
    await bash('touch made')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('Read is denied outside of the project, and works inside', async () => {
    install()
    writeFileSync(join(place.workspace, 'inside'), 'this is inside\n')
    expect((await call('Read', { file_path: join(place.root, 'secret') })).results.join()).toContain('may not read')
    expect((await call('Read', { file_path: join(place.workspace, 'inside') })).results.join()).toContain(
      'this is inside',
    )
  })

  test('a command changes neither the program of the hook nor what it finds in .bin', async () => {
    place = withPackage(place, 'claude-code')
    await bash(PLANT)
    await bash('echo again > again')
    expect(isPlanted(place)).toBe(false)
    expect([isMade(place, 'tried'), isMade(place, 'again')]).toEqual([true, true])
  })

  test.each(Object.keys(BROKEN_HOOKS) as (keyof typeof BROKEN_HOOKS)[])('a %s hook runs nothing', async (how) => {
    install()
    breakHook(join(place.workspace, SETTINGS), how)
    const { results } = await bash('touch made')
    expect(results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('every argument of Bash reaches Claude Code', async () => {
    install()
    const slow = await call('Bash', { command: 'sleep 30; touch made', timeout: 1500, description: 'waits' })
    expect(slow.results.join()).toMatch(/timed out|background/i)
    const later = await call('Bash', { command: 'echo x', run_in_background: true, description: 'later' })
    expect(later.results.join()).toContain('running in background')
  })

  test('Read opens the outputs that Claude Code keeps of this session, and nothing else of its folder', async () => {
    install()
    const pathIn = (text: string | undefined) => / to: (\/\S+?)\.?\s/.exec(text ?? '')?.[1] ?? ''
    const calls = [
      { name: 'Bash', input: { command: 'echo "this is later"', run_in_background: true } },
      { name: 'Bash', input: { command: 'seq 1 60000' } },
      (told: readonly string[]) => ({ name: 'Read', input: { file_path: pathIn(told[0]) } }),
      (told: readonly string[]) => ({ name: 'Read', input: { file_path: pathIn(told[1]), limit: 3 } }),
      (told: readonly string[]) => ({ name: 'Read', input: { file_path: join(pathIn(told[1]), '../../../../x') } }),
      (told: readonly string[]) => ({
        name: 'Read',
        input: { file_path: `${dirname(dirname(pathIn(told[1])))}.jsonl` },
      }),
    ]
    const { results } = await runAgent(place, calls, commandFor(['go']))
    expect(results[2]).not.toContain('may not read')
    expect(results[3]).toContain('1\n')
    expect(results[4]).toContain('may not read')
    expect(results[5]).toContain('may not read')
  })

  test('a question about another tool says what is known about it', async () => {
    install()
    const { results } = await call('WebFetch', { url: 'http://127.0.0.1:1/', prompt: 'x' })
    expect(results.join()).toContain('reads pages of the network')
  })

  const OFF = '{ "disableAllHooks": true }\n'
  const turnOff = (): void => {
    mkdirSync(join(place.workspace, '.claude'), { recursive: true })
    writeFileSync(join(place.workspace, '.claude/settings.json'), OFF)
  }
  const isInForce = (): boolean => place.cordon(['hook', 'check', 'claude-code']).status === 0

  test('a project that turns hooks off turns off the hook of the user, and hook check says so', async () => {
    install('--user')
    turnOff()
    expect(isInForce()).toBe(false)
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })

  test('the hook of a project holds against settings of the project that turn hooks off', async () => {
    turnOff()
    install()
    expect(isInForce()).toBe(true)
    expect((await bash('cat ../secret')).results.join()).not.toContain('a secret')
  })

  test('the start that hook check offers brings the hook of the user back', async () => {
    install('--user')
    turnOff()
    const words = ['--settings', '{"disableAllHooks":false}', 'go']
    const calls = [{ name: 'Bash', input: { command: 'cat ../secret' } }]
    expect((await runAgent(place, calls, commandFor(words))).results.join()).not.toContain('a secret')
  })

  test('a hook in the settings of the machine holds where the project and the user turn hooks off', async (context) => {
    const etc = join(place.root, 'etc')
    cpSync('/etc', etc, { recursive: true, verbatimSymlinks: true, filter: isReadable })
    // The settings of the machine are below /etc, which others use at the same time.
    const machine = ['--dev-bind', '/', '/', '--bind', etc, '/etc', '--chdir', place.workspace, '--']
    needs(context, spawnSync('bwrap', [...machine, 'true']).status === 0, 'bubblewrap does not start')
    const cordon = (...words: readonly string[]) =>
      spawnSync('bwrap', [...machine, process.execPath, CORDON, ...words], { env: place.environment, encoding: 'utf8' })
    turnOff()
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    expect(cordon('hook', 'install', 'claude-code', '--managed')).toMatchObject({ status: 0, stderr: '' })
    expect(cordon('hook', 'check', 'claude-code')).toMatchObject({ status: 0 })
    const { results } = await runAgent(place, [{ name: 'Bash', input: { command: 'touch made' } }], (url) => {
      const { program, words, environment } = commandFor(['go'])(url)
      return { program: 'bwrap', words: [...machine, program, ...words], environment }
    })
    expect(results.join()).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('after uninstalling, a command runs without Cordon', async () => {
    install()
    expect(place.cordon(['hook', 'uninstall', 'claude-code']).status).toBe(0)
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })
})
