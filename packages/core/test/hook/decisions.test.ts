// What the hook decides, and what it rewrites. The messages are those of Claude Code.
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CORDON } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { answerIn, hookPlace } from './hook-line.js'

const place = hookPlace()
const { workspace, home, hook, shell, write, cordon } = place

const message = (tool: string, input: Readonly<Record<string, unknown>>, cwd = workspace) => ({
  session_id: 's',
  hook_event_name: 'PreToolUse',
  tool_name: tool,
  tool_input: input,
  tool_use_id: 't',
  cwd,
})
const claude = (tool: string, input: Readonly<Record<string, unknown>>, ...options: readonly string[]) =>
  hook('claude-code', message(tool, input), ...options)
const decisionOf = (tool: string, input: Readonly<Record<string, unknown>>, ...options: readonly string[]): string => {
  const ran = claude(tool, input, ...options)
  return ran.stdout === '' ? `silent ${String(ran.status)}` : answerIn(ran).permissionDecision
}
const rewrite = (command: string, ...options: readonly string[]): string =>
  String(answerIn(claude('Bash', { command }, ...options)).updatedInput?.['command'])
const rules = (text: string): string => write('home/.config/cordon/rules.yaml', `rules:\n${text}`)

describe('a shell command', () => {
  const isKept = (command: string, stdout: string): void => {
    expect(shell(rewrite(command)).stdout).toBe(stdout)
  }

  test.each([
    ['quotes', `echo "it's" 'a "b"' \\'`, `it's a "b" '\n`],
    ['a here-document', "cat <<'END'\n$HOME 'x'\nEND", "$HOME 'x'\n"],
    ['a leading dash', '-- 2>/dev/null; echo -n x', 'x'],
    ['an unclosed quote', `echo 'a`, ''],
    ['text that looks like options of Cordon', '--write / -- cat', ''],
    ['letters beyond ASCII', 'echo "ä\u{1f600}\u00a0"', 'ä\u{1f600}\u00a0\n'],
  ])('keeps %s', (_, command, stdout) => {
    isKept(command, stdout)
  })

  test.each([
    ['newlines', 'echo one\necho two', 'one\ntwo\n'],
    ['variables before the command', 'A=1 B="2 3" sh -c \'echo "$A$B"\'', '12 3\n'],
    ['a comment at the end', 'echo a # b', 'a\n'],
    ['words of other shells', '=ls 2>/dev/null; echo %1 ~root !!', '%1 /root !!\n'],
    ['substitutions', 'echo `echo a` $(echo b) $((1 + 2))', 'a b 3\n'],
  ])('keeps %s', IN_MATRIX, (_, command, stdout) => {
    isKept(command, stdout)
  })

  test('reads nothing outside of the project, and writes inside', () => {
    const ran = shell(rewrite(`cat ${home}/secret inside; echo x > made`))
    expect(ran.stdout).toBe('this is inside\n')
    expect(existsSync(join(workspace, 'made'))).toBe(true)
  })

  test('that lacks a grant fails with the option of the hook, and the policy that grants it', () => {
    const { stderr } = shell(rewrite('echo > /dev/tcp/192.0.2.1/80'))
    expect(stderr).toContain('add --net 192.0.2.1')
    expect(stderr).toContain('cordon hook install claude-code')
    expect(stderr).toContain('.config/cordon/policies/agent.yaml')
    const file = write('home/own.yaml', 'environment: [ LANG ]\n')
    const own = shell(rewrite('echo > /dev/tcp/192.0.2.1/80', '--policy', file)).stderr
    expect(own).toContain('cordon hook install claude-code')
    expect(own).not.toContain('agent.yaml')
    expect(shell(rewrite('exit 3'))).toEqual({ status: 3, stdout: '', stderr: '' })
  })

  test('that breaks out of its quotes stays in its cell', () => {
    const ran = shell(rewrite(`'; cat ${home}/secret; echo '`))
    expect(ran.stdout).not.toContain('a secret')
  })

  test('that is a cordon run of its own is put into a cell too', () => {
    const inner = `${process.execPath} ${CORDON} run --read / -- cat ${home}/secret`
    const ran = shell(rewrite(inner))
    expect(ran.stdout).not.toContain('a secret')
  })

  test('reaches no network, and its status comes back', () => {
    expect(shell(rewrite('exec 3<>/dev/tcp/127.0.0.1/9 || exit 7')).status).toBe(7)
  })

  test('in a folder outside of the workspace finds that folder empty', () => {
    expect(shell(rewrite('ls -A; cat secret'), home).stdout).not.toContain('secret\n')
  })

  test('with a NUL is blocked', () => {
    const ran = claude('Bash', { command: 'echo a\0b' })
    expect(answerIn(ran).permissionDecision).toBe('deny')
  })

  test('keeps the other fields of its call', () => {
    const input = { command: 'true', timeout: 5000, run_in_background: true, description: 'nothing' }
    expect(answerIn(claude('Bash', input)).updatedInput).toMatchObject({
      ...input,
      command: expect.any(String) as string,
    })
  })

  test('gets the grants of the hook, and of the policy named agent', () => {
    write('home/data/file', 'granted\n')
    expect(shell(rewrite(`cat ${home}/data/file`, '--read', '~/data')).stdout).toBe('granted\n')
    expect(shell(rewrite(`cat ${home}/data/file`)).stdout).toBe('')
    const policy = write('home/.config/cordon/policies/agent.yaml', 'filesystem: { read: [ ~/data ] }\n')
    expect(shell(rewrite(`cat ${home}/data/file`)).stdout).toBe('granted\n')
    expect(policy).toContain('agent')
    write('home/.config/cordon/policies/agent.yaml', 'filesystem: { read: [] }\n')
  })

  test('gets a grant whose path begins with dashes', () => {
    write('project/--odd/file', 'granted\n')
    const command = 'cat -- --odd/file'
    expect(shell(rewrite(command, '--preset=toolchains', '--read=--odd')).stdout).toBe('granted\n')
    expect(shell(rewrite(command, '--preset=toolchains')).stdout).toBe('')
  })

  test('asks in the plan mode of Claude Code', () => {
    const ran = hook('claude-code', { ...message('Bash', { command: 'ls' }), permission_mode: 'plan' })
    expect(answerIn(ran).permissionDecision).toBe('ask')
  })

  test('is denied by a rule, and allowed beside it', () => {
    rules('  - { effect: deny, command: rm, because: nothing is removed }\n')
    expect(decisionOf('Bash', { command: 'ls && rm x' })).toBe('deny')
    expect(decisionOf('Bash', { command: 'ls' })).toBe('allow')
  })

  test('that a rule asks about runs in its cell once the agent runs it, and only as it was shown', () => {
    rules('  - { effect: ask, command: touch, because: somebody has to look }\n')
    const answer = answerIn(claude('Bash', { command: 'touch looked; echo ok' }))
    expect(answer).toMatchObject({ permissionDecision: 'ask', permissionDecisionReason: /somebody has to look/ })
    const command = String(answer.updatedInput?.['command'])
    expect(shell(command)).toMatchObject({ status: 0, stdout: 'ok\n' })
    expect(shell(command.replace('looked', 'changed'))).toMatchObject({ status: 125, stdout: '' })
    expect(shell(command.replace(/'--session' '[^']*'/, ''))).toMatchObject({ status: 125, stdout: '' })
    const sessions = join(home, '.local/state/cordon/sessions')
    expect(readdirSync(sessions).length).toBeGreaterThan(0)
    expect(shell(rewrite(`ls ${sessions}`, '--read', '~')).stdout).toBe('')
    rules('  []\n')
  })

  test('runs without a cell with --no-cell, if a rule does not deny it', () => {
    expect(decisionOf('Bash', { command: 'ls' }, '--no-cell')).toBe('silent 0')
  })
})

describe('a file tool', () => {
  test.each([
    ['Read', { file_path: join(workspace, 'inside') }],
    ['Read', { file_path: '/usr/bin/env' }],
    ['Write', { file_path: join(workspace, 'new/file'), content: `/etc/shadow ${home}/secret` }],
    ['Edit', { file_path: join(workspace, 'inside'), old_string: '../../x', new_string: '~/.ssh/id' }],
    ['Grep', { pattern: '/etc/passwd' }],
    ['Glob', { pattern: '**/*.ts' }],
    ['TodoWrite', { todos: [{ content: 'read /etc/shadow' }] }],
  ])('%s within its grants is left to the agent (%j)', (tool, input) => {
    expect(decisionOf(tool, input)).toBe('silent 0')
  })

  test.each([
    ['Read', { file_path: join(home, 'secret') }],
    ['Read', { file_path: join(workspace, '../home/secret') }],
    ['Read', { file_path: '~/secret' }],
    ['Write', { file_path: '/usr/bin/env', content: '' }],
    ['Write', { file_path: join(workspace, '.git/hooks/pre-commit'), content: '' }],
    ['Write', { file_path: join(workspace, '.claude/settings.local.json'), content: '' }],
    ['Write', { file_path: join(home, '.config/cordon/rules.yaml'), content: '' }],
    ['NotebookEdit', { notebook_path: join(home, 'secret') }],
    ['Grep', { pattern: 'x', path: home }],
    ['Glob', { pattern: `${home}/*` }],
    ['Glob', { pattern: '../home/*' }],
    ['Glob', { pattern: 'a/{..,b}/{..,c}/../../home/*' }],
  ])('%s beyond its grants is denied (%j)', (tool, input) => {
    expect(decisionOf(tool, input)).toBe('deny')
  })

  test('is judged by the file that a link leads to', () => {
    symlinkSync(join(home, 'secret'), join(workspace, 'link'))
    symlinkSync(join(workspace, 'inside'), join(workspace, 'near'))
    expect(decisionOf('Read', { file_path: join(workspace, 'link') })).toBe('deny')
    expect(decisionOf('Read', { file_path: join(workspace, 'near') })).toBe('silent 0')
  })

  test('cannot write .git as a file, which leads git to another repository, and may write beside it', () => {
    mkdirSync(join(workspace, 'clone/.git'), { recursive: true })
    const write = (path: string) => decisionOf('Write', { file_path: join(workspace, path), content: 'gitdir: ../x\n' })
    expect([write('.git'), write('sub/.git')]).toEqual(['deny', 'deny'])
    expect([write('sub/.gitignore'), write('clone/.git/HEAD')]).toEqual(['silent 0', 'silent 0'])
  })

  test('without a path is blocked', () => {
    expect(claude('Write', { path: join(workspace, 'x') })).toMatchObject({ status: 2, stdout: '' })
  })

  test('cannot read the audit log, even where the home is granted', () => {
    const log = join(home, '.local/state/cordon/audit.jsonl')
    expect(existsSync(log)).toBe(true)
    expect(decisionOf('Read', { file_path: log }, '--read', '~')).toBe('deny')
    expect(decisionOf('Read', { file_path: join(home, 'secret') }, '--read', '~')).toBe('silent 0')
  })
})

describe('a search', () => {
  mkdirSync(join(workspace, 'private'))
  write('project/private/key', 'a key\n')
  write('project/src/deep/secret.env', 'a secret\n')
  write('project/other/code', 'code\n')
  const carved = ['--read', '!private', '--read', '!**/*.env'] as const

  test.each([
    ['Grep', { pattern: 'x' }],
    ['Grep', { pattern: 'x', path: workspace }],
    ['Grep', { pattern: 'x', glob: '*.ts' }],
    ['Grep', { pattern: 'x', glob: 'private/key' }],
    ['Grep', { pattern: 'x', path: 'src' }],
    ['Grep', { pattern: 'x', path: 'private/key' }],
    ['Glob', { pattern: '**/*' }],
    ['Glob', { pattern: '*', path: 'private' }],
    ['Glob', { pattern: 'key', path: 'private' }],
    ['Glob', { pattern: 'other/../../**' }],
    ['Glob', { pattern: '{..,x}/*' }],
    ['Glob', { pattern: '.{.,x}/home/*' }],
    ['Glob', { pattern: '@(..)/home/x' }],
    ['Glob', { pattern: `{${home},a}/*` }],
    ['Glob', { pattern: '../../home/*', path: 'src' }],
  ])('%s that would find what no tool may read is denied (%j)', (tool, input) => {
    expect(decisionOf(tool, input, ...carved)).toBe('deny')
  })

  test.each([
    ['Grep', { pattern: 'x', path: 'other' }],
    ['Grep', { pattern: 'x', path: 'inside', glob: '*' }],
    // The names of files are shown in a cell, too.
    ['Glob', { pattern: 'src/**/*.{ts,tsx}' }],
    ['Glob', { pattern: '**/*', path: join(workspace, 'other') }],
    ['Glob', { pattern: 'inside' }],
    ['LS', { path: workspace }],
  ])('%s beside it is left to the agent (%j)', (tool, input) => {
    expect(decisionOf(tool, input, ...carved)).toBe('silent 0')
  })

  test('of the whole project is left to the agent where nothing is withheld', () => {
    for (const input of [{ pattern: 'x' }, { pattern: 'x', glob: '*.{ts,tsx}' }, { pattern: 'x', path: workspace }])
      expect(decisionOf('Grep', input)).toBe('silent 0')
    expect(decisionOf('Grep', { pattern: 'x' }, '--read', '!missing')).toBe('silent 0')
  })

  test('that is denied says what to search', () => {
    const { permissionDecisionReason: reason } = answerIn(claude('Grep', { pattern: 'x' }, ...carved))
    expect(reason).toContain('Search a folder without such a file')
  })
})

describe('in the mode plan', () => {
  test('only what changes nothing runs', () => {
    const plan = ['--mode', 'plan'] as const
    expect(decisionOf('Bash', { command: 'ls' }, ...plan)).toBe('deny')
    expect(decisionOf('Bash', { command: 'ls' }, ...plan, '--preset', 'toolchains', '--read', '.')).toBe('allow')
    expect(decisionOf('Write', { file_path: join(workspace, 'x'), content: '' }, ...plan)).toBe('deny')
    expect(decisionOf('Read', { file_path: join(workspace, 'inside') }, ...plan)).toBe('silent 0')
    expect(decisionOf('TodoWrite', { todos: [] }, ...plan)).toBe('silent 0')
  })
})

describe('any other tool', () => {
  test('asks, unless a rule allows or denies it by name', () => {
    expect(decisionOf('mcp__x__read', { path: '/etc' })).toBe('ask')
    rules(
      '  - { effect: allow, tool: "mcp__x__*", because: it is known }\n' +
        '  - { effect: deny, tool: mcp__x__drop, because: it destroys }\n',
    )
    expect(decisionOf('mcp__x__read', {})).toBe('allow')
    expect(decisionOf('mcp__x__drop', {})).toBe('deny')
    rules('  []\n')
  })
})

describe('a failure blocks the call', () => {
  const deep = `${'['.repeat(300)}${']'.repeat(300)}`
  test.each([
    ['no message', ''],
    ['no JSON', '{"hook_event_name":'],
    ['a list', '[]'],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0])],
    ['a key twice', '{"tool_name":"Read","tool_name":"Bash"}'],
    ['a deep value', `{"tool_input":${deep}}`],
    ['no tool', JSON.stringify({ hook_event_name: 'PreToolUse', cwd: workspace, tool_input: {} })],
    ['no command', JSON.stringify(message('Bash', {}))],
    ['a command that is no text', JSON.stringify(message('Bash', { command: ['ls'] }))],
    ['another event', JSON.stringify({ ...message('Bash', { command: 'ls' }), hook_event_name: 'PostToolUse' })],
    ['a folder that does not exist', JSON.stringify(message('Bash', { command: 'ls' }, '/nonexistent'))],
    ['a tool name that is no name', JSON.stringify(message('a b\n', {}))],
  ])('%s', (_, text) => {
    const ran = hook('claude-code', text)
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toMatch(/^cordon: [a-z-]+: .+\n/)
  })

  test('a message of 40 MB', () => {
    const ran = hook('claude-code', message('Write', { file_path: 'x', content: 'x'.repeat(40_000_000) }))
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('hook-input-unreadable') as string })
  })

  test('and a message of 10 MB is judged', () => {
    const input = { file_path: join(workspace, 'x'), content: 'x'.repeat(10_000_000) }
    expect(decisionOf('Write', input)).toBe('silent 0')
  })

  test('a rule file that cannot be read', () => {
    rules('  - { effect: denny }\n')
    const ran = claude('Bash', { command: 'ls' })
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toContain('fix: ')
    rules('  []\n')
  })

  test('an audit log that cannot be written', () => {
    const ran = hook('claude-code', message('Bash', { command: 'ls' }))
    expect(ran.status).toBe(0)
    mkdirSync(join(home, 'log'), { recursive: true })
    const blocked = place.shell(
      `echo '${JSON.stringify(message('Bash', { command: 'ls' }))}' | CORDON_AUDIT=/dev/full/x '${process.execPath}' ` +
        `'${CORDON}' hook claude-code`,
    )
    expect(blocked).toMatchObject({ status: 2, stdout: '' })
    expect(blocked.stderr).toContain('audit-')
  })

  test('a message that does not end', IN_MATRIX, () => {
    const blocked = place.shell(`sleep 60 | '${process.execPath}' '${CORDON}' hook claude-code`)
    expect(blocked).toMatchObject({ status: 2, stderr: expect.stringContaining('hook-too-slow') as string })
  })

  test('stdout that nobody can read', () => {
    const blocked = place.shell(
      `echo '${JSON.stringify(message('Bash', { command: 'ls' }))}' | '${process.execPath}' ` +
        `'${CORDON}' hook claude-code > /dev/full`,
    )
    expect(blocked.status).toBe(2)
  })

  test('an unknown option or agent', () => {
    expect(hook('claude-code', '{}', '--reed', 'x').status).toBe(2)
    expect(hook('clod', '{}').status).toBe(2)
  })

  test('a workspace that contains the home folder, unless the grants are named', () => {
    const wide = ['--workspace', place.root] as const
    symlinkSync(home, join(place.root, 'link'))
    for (const folder of [place.root, home, join(place.root, 'link')])
      expect(claude('Bash', { command: 'ls' }, '--workspace', folder).stderr).toContain('hook-workspace-too-wide')
    expect(decisionOf('Bash', { command: 'ls' }, ...wide, '--preset', 'toolchains')).toBe('allow')
  })

  test('an agent that does not name its project', () => {
    const text = JSON.stringify(message('Bash', { command: 'ls' }))
    const ran = place.shell(
      `echo '${text}' | env -u CLAUDE_PROJECT_DIR '${process.execPath}' '${CORDON}' hook claude-code`,
    )
    expect(ran).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('install the hook with --project') as string,
    })
  })
})

test('every decision is in the audit log, with the agent', () => {
  const events = readFileSync(join(home, '.local/state/cordon/audit.jsonl'), 'utf8').split('\n')
  const before = events.length
  claude('Read', { file_path: join(home, 'secret') })
  claude('Bash', { command: 'ls' })
  claude('Write', {})
  const added = readFileSync(join(home, '.local/state/cordon/audit.jsonl'), 'utf8')
    .split('\n')
    .slice(before - 1)
  expect(added.filter((line) => line.includes('"permission.evaluated"'))).toHaveLength(3)
  expect(added.filter((line) => line.includes('"tool.denied"'))).toHaveLength(2)
  expect(added.join()).toContain('claude-code')
  expect(cordon('log', 'verify').status).toBe(0)
})
