// The messages and answers of each agent, as its documentation has them. Claude Code, Codex, Gemini CLI
// and opencode also have tests with the real program.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { describe, expect, test } from 'vitest'

import { hookPlace } from './hook-line.js'
import type { HookPlace } from './hook-line.js'

interface Wire {
  readonly message: (place: HookPlace, tool: string, input: Readonly<Record<string, unknown>>) => unknown
  readonly shell: string
  readonly read: readonly [tool: string, field: string]
  readonly write: readonly [tool: string, field: string]
  /** All arguments in an answer. Undefined where the agent keeps the others itself. */
  readonly input: (answer: unknown) => unknown
  /** From an answer. */
  readonly command: (answer: unknown) => unknown
  readonly denial: (answer: unknown) => unknown
  readonly asks: boolean
  /** The answer to a call that the agent itself may run. */
  readonly silent: string
}

type Tree = { readonly [key: string]: Tree } & string
const at = (path: string) => (answer: unknown) =>
  path.split('.').reduce<Tree | undefined>((tree, key) => tree?.[key], answer as Tree)

const reasonIf = (decision: string, denies: string, reason: string) => (answer: unknown) =>
  at(decision)(answer) === denies ? at(reason)(answer) : undefined

const preToolUse = {
  input: at('hookSpecificOutput.updatedInput'),
  command: at('hookSpecificOutput.updatedInput.command'),
  denial: reasonIf('hookSpecificOutput.permissionDecision', 'deny', 'hookSpecificOutput.permissionDecisionReason'),
}

const WIRES: Readonly<Record<string, Wire>> = {
  'claude-code': {
    ...preToolUse,
    message: ({ workspace }, tool, input) => ({
      session_id: 's',
      transcript_path: '/t',
      cwd: workspace,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: tool,
      tool_input: input,
      tool_use_id: 't',
    }),
    shell: 'Bash',
    read: ['Read', 'file_path'],
    write: ['Write', 'file_path'],
    asks: true,
    silent: '',
  },
  'codex': {
    ...preToolUse,
    // Its hooks see the command alone.
    input: () => undefined,
    message: (place, tool, input) => {
      const transcript = join(place.home, 'rollout.jsonl')
      const turn = { cwd: place.workspace, sandbox_policy: { type: 'danger-full-access' } }
      writeFileSync(transcript, `{"type":"session_meta"}\n${JSON.stringify({ type: 'turn_context', payload: turn })}\n`)
      return {
        session_id: 's',
        turn_id: 't',
        transcript_path: transcript,
        cwd: place.workspace,
        model: 'm',
        hook_event_name: 'PreToolUse',
        permission_mode: 'default',
        tool_name: tool,
        tool_input: input,
      }
    },
    shell: 'Bash',
    read: ['view_image', 'path'],
    write: ['apply_patch', 'command'],
    asks: false,
    silent: '',
  },
  'gemini': {
    message: ({ workspace }, tool, input) => ({
      session_id: 's',
      transcript_path: '/t',
      cwd: workspace,
      timestamp: '2026-11-17T00:00:00Z',
      hook_event_name: 'BeforeTool',
      tool_name: tool,
      tool_input: input,
    }),
    input: at('hookSpecificOutput.tool_input'),
    command: at('hookSpecificOutput.tool_input.command'),
    denial: reasonIf('decision', 'deny', 'reason'),
    shell: 'run_shell_command',
    read: ['read_file', 'file_path'],
    write: ['write_file', 'file_path'],
    asks: false,
    silent: '',
  },
  'cursor': {
    message: ({ workspace }, tool, input) => ({
      conversation_id: 'c',
      generation_id: 'g',
      model: 'm',
      cursor_version: '2.0',
      workspace_roots: [workspace],
      hook_event_name: 'preToolUse',
      tool_name: tool,
      tool_input: input,
      tool_use_id: 't',
      cwd: workspace,
    }),
    input: at('updated_input'),
    command: at('updated_input.command'),
    denial: reasonIf('permission', 'deny', 'agent_message'),
    shell: 'Shell',
    read: ['Read', 'file_path'],
    write: ['Write', 'file_path'],
    asks: false,
    silent: '{"permission":"allow"}\n',
  },
  'vscode': {
    ...preToolUse,
    message: ({ workspace }, tool, input) => ({
      timestamp: '2026-11-17T00:00:00Z',
      cwd: workspace,
      sessionId: 's',
      hookEventName: 'PreToolUse',
      transcript_path: '/t',
      tool_name: tool,
      tool_input: input,
      tool_use_id: 't',
    }),
    shell: 'run_in_terminal',
    read: ['read_file', 'filePath'],
    write: ['create_file', 'filePath'],
    asks: true,
    silent: '',
  },
  'opencode': {
    message: ({ workspace }, tool, input) => ({ tool, args: input, directory: workspace }),
    input: () => undefined,
    command: at('command'),
    denial: at('deny'),
    shell: 'bash',
    read: ['read', 'filePath'],
    write: ['write', 'filePath'],
    asks: false,
    silent: '{}\n',
  },
}

const patchOf = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`

describe.each(Object.entries(WIRES))('%s', (agent, wire) => {
  const place = hookPlace()
  const { hook, workspace, home } = place
  const ask = (tool: string, input: Readonly<Record<string, unknown>>) => hook(agent, wire.message(place, tool, input))
  const pathInput = ([tool, field]: Wire['read'], path: string) => ({
    [field]: tool === 'apply_patch' ? patchOf(path) : path,
    content: 'x',
  })

  test('a command is rewritten to run in a cell', () => {
    const ran = ask(wire.shell, { command: `cat inside ${home}/secret` })
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(place.shell(String(wire.command(JSON.parse(ran.stdout)))).stdout).toBe('this is inside\n')
  })

  test('every other argument of the shell tool stays', () => {
    const { stdout } = ask(wire.shell, { command: 'ls', some_option: 7, dir_path: '.' })
    const kept = wire.input(JSON.parse(stdout))
    if (kept !== undefined) expect(kept).toMatchObject({ some_option: 7, dir_path: '.' })
  })

  test('a rule denies a command, and another one runs', () => {
    place.write('home/.config/cordon/rules.yaml', 'rules:\n  - { effect: deny, command: rm, because: we keep files }\n')
    const ran = ask(wire.shell, { command: 'rm inside' })
    expect(wire.denial(JSON.parse(ran.stdout))).toContain('we keep files')
    expect(wire.denial(JSON.parse(ask(wire.shell, { command: 'ls' }).stdout))).toBeUndefined()
  })

  test(wire.asks ? 'a rule asks about a command' : 'a rule that asks denies, because the agent would not ask', () => {
    place.write('home/.config/cordon/rules.yaml', 'rules:\n  - { effect: ask, command: rm, because: look at it }\n')
    const ran = ask(wire.shell, { command: 'rm inside' })
    if (wire.asks) expect(ran.stdout).toContain('"permissionDecision":"ask"')
    else expect(wire.denial(JSON.parse(ran.stdout))).toMatch(/./)
    expect(ran.stdout.includes('"ask"')).toBe(wire.asks)
  })

  test('reading and writing files is denied outside of the project, and left to the agent inside', () => {
    for (const tool of [wire.read, wire.write]) {
      expect(ask(tool[0], pathInput(tool, join(workspace, 'inside'))).stdout).toBe(wire.silent)
      const denied = ask(tool[0], pathInput(tool, join(home, 'secret')))
      expect(wire.denial(JSON.parse(denied.stdout))).toMatch(/may not (?:read|write)/)
    }
  })

  test('a tool that Cordon does not know does not run by itself', () => {
    const ran = ask('some_new_tool', {})
    if (wire.asks) expect(ran.stdout).toContain('"permissionDecision":"ask"')
    else expect(wire.denial(JSON.parse(ran.stdout))).toMatch(/./)
    expect(ran.stdout).toContain('does not know the tool some_new_tool')
    expect(ask('mcp__a__b', {}).stdout).toContain('a tool of an MCP server')
  })

  test('a message that is cut short is blocked', () => {
    const whole = JSON.stringify(wire.message(place, wire.shell, { command: 'ls' }))
    expect(hook(agent, whole.slice(0, -9))).toMatchObject({ status: 2, stdout: '' })
    expect(hook(agent, '{}')).toMatchObject({ status: 2, stdout: '' })
  })
})

describe('a patch', () => {
  const place = hookPlace()
  const patch = (text: string) => {
    const message = WIRES['codex']?.message(place, 'apply_patch', { command: text })
    return place.hook('codex', message).stdout
  }
  test.each([
    ['moves a file out', `*** Begin Patch\n*** Update File: inside\n*** Move to: ../home/x\n@@\n-a\n+b\n*** End Patch`],
    [
      'has blanks before a marker',
      `*** Begin Patch\n*** Add File: ok\n+x\n  *** Delete File: ../home/secret  \n*** End Patch`,
    ],
    ['ends lines as Windows does', `*** Begin Patch\r\n*** Add File: ../home/x\r\n+x\r\n*** End Patch`],
    ['changes git hooks', patchOf('.git/hooks/pre-commit')],
    ['names a file behind a blank', patchOf(' ../home/x')],
  ])('that %s is denied', (_, text) => {
    expect(patch(text)).toContain('"deny"')
  })

  test.each([
    ['moves a file', `*** Begin Patch\n*** Update File: inside\n*** Move to: sub/x\n@@\n-a\n+b\n*** End Patch`],
    ['ends lines as Windows does', `*** Begin Patch\r\n*** Add File: sub/x\r\n+x\r\n*** End Patch\r\n`],
    [
      'has asterisks and unusual blanks in its content',
      `*** Begin Patch\n*** Update File: inside\n@@ ***\n *** note ***\n  \u00a0***\n-***\n+\u00a0*** Add File: /x\n*** End of File\n*** End Patch`,
    ],
    ['has blanks in a name', patchOf('a b/c d')],
  ])('that %s within the project is left to the agent', (_, text) => {
    expect(patch(text)).toBe('')
  })
})

describe('a path that has several names', () => {
  const place = hookPlace()
  const write = (input: Readonly<Record<string, unknown>>): string =>
    place.hook('cursor', WIRES['cursor']?.message(place, 'Write', input)).stdout

  test('is judged by all that are given', () => {
    const outside = join(place.home, '.bashrc')
    expect(write({ file_path: 'ok.txt', path: outside })).toContain('"deny"')
    expect(write({ file_path: '', path: 'ok.txt', target_file: outside })).toContain('"deny"')
    expect(write({ file_path: 'ok.txt', path: 7 })).toBe('')
    expect(write({ file_path: 'ok.txt', path: join(place.workspace, 'ok.txt') })).toBe(WIRES['cursor']?.silent)
  })
})

describe('Codex', () => {
  const place = hookPlace()
  const message = (sandbox: string): unknown => {
    const transcript = join(place.home, 'rollout.jsonl')
    const turn = (type: string) =>
      JSON.stringify({ type: 'turn_context', payload: { cwd: place.workspace, sandbox_policy: { type } } })
    // The model can print such a line, which is then a text within another line.
    const printed = JSON.stringify({ type: 'response_item', payload: { text: turn('danger-full-access') } })
    writeFileSync(transcript, [turn('danger-full-access'), turn(sandbox), printed, ''].join('\n'))
    return {
      hook_event_name: 'PreToolUse',
      transcript_path: transcript,
      cwd: place.workspace,
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    }
  }

  test('in its own sandbox a command is blocked with the fix, by the settings of the last turn', () => {
    expect(place.hook('codex', message('workspace-write')).stderr).toContain('hook-cell-impossible')
    expect(place.hook('codex', message('danger-full-access')).stdout).toContain('"allow"')
  })

  test('a transcript that is missing blocks the call', () => {
    const given = { ...(message('read-only') as object), transcript_path: '/nonexistent' }
    expect(place.hook('codex', given)).toMatchObject({ status: 2, stdout: '' })
  })
})

describe('the plugin of opencode', () => {
  const place = hookPlace()
  // The plugin has the environment of the tests, and finds the copy of Cordon by it.
  place.cordon('hook', 'install', 'opencode')
  const file = join(place.workspace, '.opencode/plugins/cordon.js')

  type Before = (given: { tool: string }, output: { args: Record<string, unknown> }) => Promise<void>
  const before = async (path: string): Promise<Before> => {
    const module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as {
      CordonPlugin: (given: { directory: string }) => Promise<Record<string, Before>>
    }
    const hooks = await module.CordonPlugin({ directory: place.workspace })
    return hooks['tool.execute.before'] ?? (() => Promise.reject(new Error('no hook')))
  }

  test('rewrites a command, and throws for a denied call', async () => {
    const hook = await before(file)
    const output = { args: { command: 'cat inside' } as Record<string, unknown> }
    await hook({ tool: 'bash' }, output)
    expect(place.shell(String(output.args['command'])).stdout).toBe('this is inside\n')
    await expect(hook({ tool: 'read' }, { args: { filePath: '/etc/shadow' } })).rejects.toThrow('may not read')
    await expect(
      hook({ tool: 'read' }, { args: { filePath: join(place.workspace, 'inside') } }),
    ).resolves.toBeUndefined()
  })

  test('throws if Cordon is gone', async () => {
    const gone = join(place.workspace, '.opencode/plugins/gone.mjs')
    const [text, program] = [readFileSync(file, 'utf8'), 'cordon/bin/cordon']
    expect(text).toContain(program)
    writeFileSync(gone, text.replace(program, 'cordon/bin/gone'))
    await expect((await before(gone))({ tool: 'bash' }, { args: { command: 'ls' } })).rejects.toThrow('does not run')
  })
})
