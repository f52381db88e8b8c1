// The real Codex with the hook that Cordon installs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { agentProgram, AGENT_PACKAGES } from '../../../../scripts/tests/agent-programs.mjs'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
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

const PROGRAM = agentProgram('codex')

let place: AgentPlace
beforeEach((context) => {
  needs(context, PROGRAM !== undefined, `npm did not install ${AGENT_PACKAGES.codex}`)
  place = agentPlace()
})
afterEach(() => {
  place.remove()
})

/** People trust a hook in the terminal of Codex. A program can only leave that out. */
const TRUST = '--dangerously-bypass-hook-trust'

interface Given {
  /** Lines at the end of its settings. */
  readonly config?: readonly string[]
  /** Other arguments of its shell tool. */
  readonly more?: Readonly<Record<string, unknown>>
  readonly sandbox?: string
  readonly trust?: readonly string[]
  readonly workdir?: string
  readonly model?: string
}

const call = (
  tool: ScriptedCall,
  { sandbox = 'danger-full-access', trust = [TRUST], config = [], model = 'scripted' }: Given = {},
): Promise<AgentRun> =>
  runAgent(place, [tool], (url) => {
    const settings = [
      ...[`model = "${model}"`, 'model_provider = "scripted"', '[model_providers.scripted]', 'name = "scripted"'],
      ...[`base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', ''],
      ...config,
    ]
    mkdirSync(join(place.home, '.codex'), { recursive: true })
    writeFileSync(join(place.home, '.codex/config.toml'), settings.join('\n'))
    return {
      program: PROGRAM ?? '',
      words: ['exec', '--skip-git-repo-check', ...trust, '--sandbox', sandbox, 'go'],
      environment: { OPENAI_API_KEY: 'none' },
    }
  })

const bash = (command: string, given: Given = {}): Promise<AgentRun> => {
  const folder = given.workdir === undefined ? {} : { workdir: given.workdir }
  return call({ name: 'exec_command', input: { cmd: command, ...given.more, ...folder } }, given)
}

/** Codex offers apply_patch to models that it knows. */
const patch = (...lines: readonly string[]): Promise<AgentRun> =>
  call(
    { name: 'apply_patch', input: { patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') } },
    { model: 'gpt-5.5' },
  )

// For the user: Codex reads the hooks of a project only if the user trusts the project.
const install = (...options: readonly string[]): void => {
  const { status, stderr } = place.cordon(['hook', 'install', 'codex', '--user', ...options])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

/** What Codex itself says about the hook. */
const hookOfCodex = (): { readonly key: string; readonly currentHash: string } => {
  const lines = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } },
    { method: 'initialized' },
    { id: 2, method: 'hooks/list', params: { cwds: [place.workspace] } },
  ]
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  // It ends with its input, so the input stays open until the answer is there.
  const script =
    '{ cat; until grep -q \'"id":2\' answers; do sleep 0.1; done; } | "$0" app-server > answers; cat answers'
  const { stdout } = spawnSync('/bin/sh', ['-c', script, PROGRAM ?? ''], {
    cwd: place.root,
    env: place.environment,
    input,
    encoding: 'utf8',
    timeout: ENDS_WHAT_HANGS_MS,
  })
  const answer = stdout.split('\n').find((line) => line.includes('"id":2')) ?? '{}'
  const { result } = JSON.parse(answer) as { result: { data: { hooks: { key: string; currentHash: string }[] }[] } }
  const [hook] = result.data.flatMap(({ hooks }) => hooks)
  if (hook === undefined) throw new Error(`Codex has no hook: ${stdout}`)
  return hook
}

describe('Codex', () => {
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

  test('the model cannot choose the workspace by the folder of its command', async () => {
    install()
    const { results } = await bash('echo "here: $(ls)"; cat secret; touch made', { workdir: place.root })
    expect(results.join()).toContain('here: project\n')
    expect(results.join()).not.toContain('a secret')
  })

  test('a command in a subfolder of the workspace works there', async () => {
    install()
    mkdirSync(join(place.workspace, 'sub'))
    await bash('touch made', { workdir: join(place.workspace, 'sub') })
    expect(isMade(place, 'sub/made')).toBe(true)
  })

  test('every argument of its shell tool reaches Codex', async () => {
    install()
    const more = { shell: '/bin/bash', login: false, tty: false, yield_time_ms: 20_000, max_output_tokens: 50 }
    const { results } = await bash('touch made; seq 1 5000', { more, workdir: place.workspace })
    expect(isMade(place, 'made')).toBe(true)
    expect(results.join().length).toBeLessThan(4000)
  })

  test('a hook that its user trusted is in force, as hook check says', async () => {
    install()
    expect(place.cordon(['hook', 'check', 'codex']).status).toBe(1)
    const { key, currentHash } = hookOfCodex()
    const state = [`[hooks.state.${JSON.stringify(key)}]`, `trusted_hash = ${JSON.stringify(currentHash)}`, '']
    const { results } = await bash('cat ../secret; echo ran', { trust: [], config: state })
    expect(results.join()).toContain('ran')
    expect(results.join()).not.toContain('a secret')
    expect(place.cordon(['hook', 'check', 'codex'])).toMatchObject({ status: 0 })
    // Another option changes the command, and Codex trusts it no longer.
    install('--env', 'LANG')
    expect(place.cordon(['hook', 'check', 'codex']).stdout).toContain('has changed since')
    expect((await bash('cat ../secret', { trust: [], config: state })).results.join()).toContain('a secret')
  })

  test('a rule denies a command, and the model reads why', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    install()
    const { results } = await bash('touch made')
    expect(results.join()).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('a patch writes in the project, and no file behind blanks that Codex trims', async () => {
    install()
    await patch('*** Add File: made', '+x')
    expect(isMade(place, 'made')).toBe(true)
    for (const blank of ['\u00a0', '\v', '\u2028'])
      await patch('*** Add File: also', '+x', `${blank}*** Add File: ../outside`, '+x')
    expect([isMade(place, 'also'), isMade(place, '../outside')]).toEqual([false, false])
  })

  test('Codex ignores "ask", so a rule that asks denies', async () => {
    place.setRules('rules:\n  - { effect: ask, command: touch, because: somebody has to look }\n')
    install()
    const { results } = await bash('touch made')
    expect(results.join()).toContain('blocked by PreToolUse hook')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('in the sandbox of Codex a command is denied with the fix', async () => {
    install()
    const { results } = await bash('touch made', { sandbox: 'workspace-write' })
    expect(results.join()).toContain('hook-cell-impossible')
    expect(results.join()).toContain('--no-cell')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('with --no-cell Cordon only decides', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    install('--no-cell')
    expect((await bash('touch made')).results.join()).toContain('nothing is made here')
    expect((await bash('cat ../secret')).results.join()).toContain('a secret')
  })

  test('a command changes neither the program of the hook nor what it finds in .bin', async () => {
    place = withPackage(place, 'codex', '--user')
    await bash(PLANT)
    await bash('echo again > again')
    expect(isPlanted(place)).toBe(false)
    expect([isMade(place, 'tried'), isMade(place, 'again')]).toEqual([true, true])
  })

  test.each(Object.keys(BROKEN_HOOKS) as (keyof typeof BROKEN_HOOKS)[])('a %s hook runs nothing', async (how) => {
    install()
    breakHook(join(place.home, '.codex/hooks.json'), how)
    const { results } = await bash('touch made')
    expect(results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })

  test('is not held: Codex runs no hook that its user has not trusted, and the installer says so', async () => {
    const { stdout } = place.cordon(['hook', 'install', 'codex', '--user'])
    expect(stdout).toContain('only after you trusted it')
    expect((await bash('cat ../secret', { trust: [] })).results.join()).toContain('a secret')
  })
})
