// The real Claude Code with the hook that Cordon installs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { agentProgram, AGENT_PACKAGES } from '../../scripts/agent-programs.mjs'
import { needs } from '../requirement.js'
import { BROKEN_HOOKS, agentPlace, breakHook, isMade, runAgent } from './agent-process.js'
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
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1' },
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

  test.each(Object.keys(BROKEN_HOOKS) as (keyof typeof BROKEN_HOOKS)[])('a %s hook runs nothing', async (how) => {
    install()
    breakHook(join(place.workspace, SETTINGS), how)
    const { results } = await bash('touch made')
    expect(results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('after uninstalling, a command runs without Cordon', async () => {
    install()
    expect(place.cordon(['hook', 'uninstall', 'claude-code']).status).toBe(0)
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })
})
