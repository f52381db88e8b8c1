// The real Claude Agent SDK with the program that it brings, against a scripted model.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { SDK_PACKAGES, sdkModules } from '../../../../scripts/tests/sdk-programs.mjs'
import { claudeAgent } from '@cordon/adapters/claude-agent'
import type { ClaudeAgentOptions, QueryOptions } from '@cordon/adapters/claude-agent'
import type { Cordon, ToolResult } from 'cordon'
import { BROKEN_HOOKS, PLANT, agentPlace, isMade, isPlanted } from '../../../core/test/hook/agent-process.js'
import type { AgentPlace } from '../../../core/test/hook/agent-process.js'
import { startModel } from '../../../core/test/hook/scripted-model.js'
import type { ToolCall } from '../../../core/test/hook/scripted-model.js'
import { installPackage } from '../../../../test/installed-package.js'
import { REPOSITORY as ROOT } from '../../../../test/repository.js'
import { needs } from '../../../../test/requirement.js'
import { FRUIT, openNotesStage, runExampleWith } from './notes.js'

const MODULES = sdkModules('claude-agent')

interface Message {
  readonly type: string
  readonly session_id: string
  /** The call at which the run ended, because it waits. */
  readonly deferred_tool_use?: { readonly id: string }
}
interface Sdk {
  readonly query: (asked: { prompt: string; options: Record<string, unknown> }) => AsyncIterable<Message>
}

const openNotes = openNotesStage()
const YES = { kind: 'approve_once', by: 'ann' } as const

let place: AgentPlace
let query: Sdk['query']
beforeEach(async (context) => {
  needs(context, MODULES !== undefined, `npm did not install ${SDK_PACKAGES['claude-agent']}`)
  const entry = join(MODULES ?? '', '@anthropic-ai/claude-agent-sdk/sdk.mjs')
  ;({ query } = (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as Sdk)
  place = agentPlace()
})
afterEach(() => {
  place.remove()
})

/** Every tool is allowed without a question. Only Cordon is in the way. */
const run = async (calls: readonly ToolCall[], options: QueryOptions, more: Readonly<Record<string, unknown>> = {}) => {
  const model = await startModel(calls)
  try {
    const messages: Message[] = []
    const allowedTools = [...options.allowedTools, 'Bash', 'Read', 'Write', 'Edit', 'WebFetch', 'Skill']
    const env = {
      ...place.environment,
      CORDON_HOST: 'off',
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'none',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const asked = { prompt: 'go', options: { ...options, allowedTools, env, ...more } }
    for await (const message of query(asked)) messages.push(message)
    return { results: model.results, last: messages.at(-1) }
  } finally {
    await model.close()
  }
}

const adapterOf = (cordon: Cordon, options: Partial<ClaudeAgentOptions> = {}) =>
  claudeAgent(cordon, { workspace: place.workspace, ...options })

/** A call of a tool of the agent itself. */
const own = async (name: string, input: Readonly<Record<string, unknown>>, given: Partial<ClaudeAgentOptions> = {}) => {
  const { cordon } = await openNotes()
  return (await run([{ name, input }], adapterOf(cordon, given).options)).results.join()
}

test('the example ends as its page says', () => {
  expect(runExampleWith(MODULES ?? '', 'claude-agent')).toMatchObject({ status: 0 })
})

describe('a tool of the agent itself', () => {
  test('a command runs in a cell: it writes in the project, and reads nothing outside', async () => {
    const told = await own('Bash', { command: `cat ../secret; echo "it's $((1 + 1))" > made; cat made` })
    expect(told).toContain("it's 2")
    expect(told).not.toContain('a secret')
    expect(readFileSync(join(place.workspace, 'made'), 'utf8')).toBe("it's 2\n")
  })

  test('a command has the grants of the options', async () => {
    const hook = ['--read', join(place.root, 'secret')]
    expect(await own('Bash', { command: 'cat ../secret' }, { hook })).toContain('a secret')
  })

  test('a rule denies a command, the model reads why, and the log has it', async () => {
    place.setRules('rules:\n  - { effect: deny, command: touch, because: nothing is made here }\n')
    expect(await own('Bash', { command: 'touch made' })).toContain('nothing is made here')
    expect(isMade(place, 'made')).toBe(false)
    expect(place.cordon(['why', 'last']).stdout).toContain('nothing is made here')
  })

  test('Read and Write are denied outside of the project, and work inside', async () => {
    writeFileSync(join(place.workspace, 'inside'), 'this is inside\n')
    expect(await own('Read', { file_path: join(place.root, 'secret') })).toContain('may not read')
    expect(await own('Read', { file_path: join(place.workspace, 'inside') })).toContain('this is inside')
    expect(await own('Write', { file_path: join(place.root, 'made'), content: 'x' })).toContain('may not write')
    await own('Write', { file_path: join(place.workspace, 'made'), content: 'x' })
    expect(isMade(place, 'made')).toBe(true)
  })

  test('WebFetch does not run without a rule, even if the program allows it', async () => {
    const input = { url: 'https://example.org', prompt: 'what is it' }
    expect(await own('WebFetch', input)).toMatch(/Cordon asks/)
  })

  test('asks the program if a rule asks, and runs in its cell after a yes', async () => {
    place.setRules('rules:\n  - { effect: ask, command: "touch **", because: somebody has to look }\n')
    const { cordon } = await openNotes()
    for (const [behavior, made] of [['deny', false] as const, ['allow', true] as const]) {
      const questions: unknown[] = []
      const canUseTool = (_: string, updatedInput: unknown, { decisionReason }: { decisionReason?: string }) => {
        questions.push(decisionReason)
        return Promise.resolve(behavior === 'allow' ? { behavior, updatedInput } : { behavior, message: 'no' })
      }
      const { options } = adapterOf(cordon)
      await run([{ name: 'Bash', input: { command: 'touch made' } }], options, { canUseTool })
      expect({ questions: questions.join(), made: isMade(place, 'made') }).toEqual({
        questions: expect.stringContaining('somebody has to look') as string,
        made,
      })
    }
  })

  test('does not run without Cordon if the project turns hooks off', async () => {
    mkdirSync(join(place.workspace, '.claude'))
    writeFileSync(join(place.workspace, '.claude/settings.json'), '{ "disableAllHooks": true }\n')
    expect(await own('Bash', { command: 'cat ../secret; echo ran' })).not.toContain('a secret')
  })

  const PROGRAM_OF_HOOK = /(?<='cordon-hook' ).+(?= 'hook' 'claude-code')/
  test.each(Object.entries(BROKEN_HOOKS))('a %s hook runs nothing', async (_, broken) => {
    const { cordon } = await openNotes()
    const { options } = adapterOf(cordon)
    const entry = options.settings.hooks.PreToolUse[0]?.hooks[0]
    if (entry === undefined) throw new Error('there is no hook')
    const command = entry.command.replace(PROGRAM_OF_HOOK, () => broken).replace('KILL 25', 'KILL 2')
    expect(entry.command).toMatch(PROGRAM_OF_HOOK)
    entry.command = command
    const { results } = await run([{ name: 'Bash', input: { command: 'touch made' } }], options)
    expect(results.join()).toContain('does not run')
    expect(isMade(place, 'made')).toBe(false)
  })
})

describe('with Cordon as a package of the project', () => {
  const PROGRAM = 'node_modules/cordon/bin/cordon.js'
  const inProject = (name: string) => join(place.workspace, name)

  const ownInProject = async (calls: readonly ToolCall[]) => {
    const { cordon } = await openNotes()
    const entry = inProject('node_modules/@cordon/adapters/dist/bundle/claude-agent.js')
    const installed = (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as {
      claudeAgent: typeof claudeAgent
    }
    const { options } = installed.claudeAgent(cordon, { workspace: place.workspace })
    expect(options.settings.hooks.PreToolUse[0]?.hooks[0]?.command).toContain(inProject(PROGRAM))
    return (await run(calls, options)).results
  }

  beforeEach(() => {
    installPackage(place.workspace)
    const name = 'node_modules/@modelcontextprotocol'
    symlinkSync(join(ROOT, name), inProject(name))
  })

  test('a command cannot change the package that its hook starts from, and changes other files', async () => {
    await ownInProject([{ name: 'Bash', input: { command: PLANT } }])
    expect({ tried: isMade(place, 'tried'), planted: isPlanted(place) }).toEqual({ tried: true, planted: false })
  })

  test('Write and Edit cannot change what Cordon runs from, and change other files', async () => {
    writeFileSync(inProject('mine.js'), '// old\n')
    const [program, dependency] = [inProject(PROGRAM), inProject('node_modules/smol-toml/package.json')]
    const write = (path: string) => ({ name: 'Write', input: { file_path: inProject(path), content: 'x' } })
    const edit = (path: string, from: string) => [
      { name: 'Read', input: { file_path: path } },
      { name: 'Edit', input: { file_path: path, old_string: from, new_string: '// new' } },
    ]
    const before = [program, dependency].map((path) => readFileSync(path, 'utf8'))
    const refused = await ownInProject([
      ...[write('node_modules/cordon/bin/made.js'), write('node_modules/cordon/node_modules/smol-toml/index.js')],
      ...[...edit(program, '#!/usr/bin/env node'), ...edit(dependency, '"name": "smol-toml"')],
    ])
    expect(refused.filter((text) => text.includes('may not write'))).toHaveLength(4)
    expect([program, dependency].map((path) => readFileSync(path, 'utf8'))).toEqual(before)
    await ownInProject([write('node_modules/other.js'), ...edit(inProject('mine.js'), '// old')])
    expect(isMade(place, 'node_modules/other.js')).toBe(true)
    expect(readFileSync(inProject('mine.js'), 'utf8')).toBe('// new\n')
  })
})

test.each([undefined, {}, { workspace: '' }, { workspace: 7 }])(
  'options %j are refused with the fix',
  async (options) => {
    const { cordon } = await openNotes()
    const open = () => claudeAgent(cordon, options as unknown as ClaudeAgentOptions)
    expect(open).toThrow(
      expect.objectContaining({ code: 'option-invalid', fix: expect.stringContaining('workspace') as string }),
    )
  },
)

describe('a tool of the runtime', () => {
  test('gives the model its output, and the operator the facts', async () => {
    const { cordon } = await openNotes()
    const results: ToolResult[] = []
    const { options } = adapterOf(cordon, { onResult: (each) => results.push(each) })
    const ran = await run([{ name: 'mcp__cordon__read_note', input: FRUIT }], options)
    expect(ran.results.join()).toContain('pear\\n')
    expect(results.map(({ facts }) => facts.tool)).toEqual(['read_note'])
  })

  test('gives the model the reason of a refusal', async () => {
    const { cordon } = await openNotes()
    const { options } = adapterOf(cordon)
    const ran = await run([{ name: 'mcp__cordon__read_note', input: { path: '/etc/shadow' } }], options)
    expect(ran.results.join()).toContain('Denied')
  })

  const REMOVE = { name: 'mcp__cordon__remove_note', input: FRUIT }

  /** The run that ends at the question, and then one in another adapter, as in another process. */
  const suspend = async () => {
    const notes = await openNotes()
    const first = adapterOf(notes.cordon, { onAsk: 'suspend' })
    const { last } = await run([REMOVE], first.options)
    const [call] = first.suspended()
    expect(last?.deferred_tool_use?.id).toBe(call?.id)
    expect(notes.hasNote()).toBe(true)
    if (call === undefined) throw new Error('nothing was suspended')
    const second = adapterOf(notes.cordon, { onAsk: 'suspend' })
    return { ...notes, call, second, goOn: () => run([REMOVE], second.options, { resume: last?.session_id }) }
  }

  test('ends the run at a question, and goes on with the session when a person approves', async () => {
    const { call, second, goOn, hasNote } = await suspend()
    await second.answer(call, YES)
    expect((await goOn()).results.join()).toContain('removed')
    expect(hasNote()).toBe(false)
  })

  test('does not run when a person denies it, and the model reads that', async () => {
    const { call, second, goOn, hasNote } = await suspend()
    await second.answer(call, { kind: 'deny', by: 'ann', reason: 'not today' })
    expect((await goOn()).results.join()).toContain('not today')
    expect(hasNote()).toBe(true)
  })

  test('waits again if nobody has answered', async () => {
    const { call, goOn, hasNote } = await suspend()
    expect((await goOn()).last?.deferred_tool_use?.id).toBe(call.id)
    expect(hasNote()).toBe(true)
  })
})
