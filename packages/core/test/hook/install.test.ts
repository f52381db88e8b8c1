// Installing and removing hooks in settings that people wrote.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cordon } from '../cli/cordon.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { DATA_HOME, answerIn, hookPlace } from './hook-line.js'

const FILES: Readonly<Record<string, readonly [project: string, user: string]>> = {
  'claude-code': ['.claude/settings.local.json', '.claude/settings.json'],
  'codex': ['.codex/hooks.json', '.codex/hooks.json'],
  'gemini': ['.gemini/settings.json', '.gemini/settings.json'],
  'cursor': ['.cursor/hooks.json', '.cursor/hooks.json'],
  'vscode': ['.github/hooks/cordon.json', '.copilot/hooks/cordon.json'],
  'opencode': ['.opencode/plugins/cordon.js', '.config/opencode/plugins/cordon.js'],
}

/** One agent of each kind: settings that its user edits too, a file for hooks alone, and a plugin. */
const OF_EACH_KIND = ['claude-code', 'codex', 'opencode']

for (const [agent, [project, user]] of Object.entries(FILES))
  describe(agent, OF_EACH_KIND.includes(agent) ? {} : IN_MATRIX, () => {
    test('is installed for a project and for a user, listed, and removed', () => {
      const { cordon, workspace, home } = hookPlace()
      const installed = cordon('hook', 'install', agent, '--net', 'example.org', '--no-cell')
      expect(installed).toMatchObject({ status: 0, stderr: '' })
      expect(installed.stdout).toContain('does not let Cordon hold')
      expect(cordon('hook', 'install', agent, '--user').status).toBe(0)
      const listed = cordon('hook', 'list').stdout
      // A team may commit the other files, so their line names nothing of this machine.
      if (agent === 'claude-code') expect(listed).toContain(`--workspace ${workspace} --net example.org --no-cell`)
      else expect(readFileSync(join(workspace, project), 'utf8')).not.toMatch(/--workspace|\/tmp|\/node/)
      expect(listed).toContain('--net example.org --no-cell')
      expect(listed).toContain(join(home, user))
      expect(cordon('hook', 'uninstall', agent).status).toBe(0)
      expect(cordon('hook', 'uninstall', agent, '--user').status).toBe(0)
      expect(cordon('hook', 'list').stdout).toBe('No hook is installed here.\n')
      expect(cordon('hook', 'uninstall', agent)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`is in ${join(workspace, project)}`) as string,
      })
    })

    test('is not said to be removed where it never was, and the place where it is gets named', () => {
      const { cordon, home } = hookPlace()
      cordon('hook', 'install', agent, '--user')
      const ran = cordon('hook', 'uninstall', agent)
      expect(ran).toMatchObject({ status: 1, stdout: '' })
      expect(ran.stderr).toContain(`a hook is in ${join(home, user)}: cordon hook uninstall ${agent} --user`)
      expect(cordon('hook', 'list').stdout).toContain(join(home, user))
      expect(cordon('hook', 'uninstall', agent, '--user').status).toBe(0)
    })

    test('is installed once, and with the options of the last time', () => {
      const { cordon, workspace } = hookPlace()
      const file = join(workspace, project)
      cordon('hook', 'install', agent)
      const first = readFileSync(file, 'utf8')
      cordon('hook', 'install', agent)
      expect(readFileSync(file, 'utf8')).toBe(first)
      cordon('hook', 'install', agent, '--mode', 'untrusted')
      expect(readFileSync(file, 'utf8').split(`'cordon-hook'`)).toHaveLength(2)
      cordon('hook', 'install', agent)
      expect(readFileSync(file, 'utf8')).toBe(first)
    })
  })

const WRITTEN = `{
  // my settings
  "model": "opus", /* the best */
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }, // mine
    ],
    "Stop": []
  },
}
`

test('comments, other hooks and the rest of the file survive, and uninstalling brings the file back', () => {
  const { cordon, write, workspace } = hookPlace()
  const file = write('project/.claude/settings.local.json', WRITTEN)
  cordon('hook', 'install', 'claude-code')
  const text = readFileSync(file, 'utf8')
  for (const part of ['// my settings', '/* the best */', './mine.sh', '// mine', '"Stop": []', 'cordon-hook'])
    expect(text).toContain(part)
  expect(readFileSync(`${file}.before-cordon`, 'utf8')).toBe(WRITTEN)
  expect(cordon('hook', 'list').stdout).toContain(workspace)
  cordon('hook', 'uninstall', 'claude-code')
  expect(readFileSync(file, 'utf8').replaceAll(/[\s,]/g, '')).toBe(WRITTEN.replaceAll(/[\s,]/g, ''))
})

test.each([
  ['no JSON', '{ "hooks": '],
  ['a list', '[]'],
  ['hooks that are no object', '{ "hooks": [] }'],
  ['a list of hooks that is no list', '{ "hooks": { "PreToolUse": {} } }'],
])('refuses settings that it cannot read: %s', (_, text) => {
  const { cordon, write } = hookPlace()
  const file = write('project/.claude/settings.local.json', text)
  for (const action of ['install', 'uninstall'] as const) {
    const ran = cordon('hook', action, 'claude-code')
    expect(ran.status).toBe(2)
    expect(ran.stderr).toContain('file-syntax')
  }
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(existsSync(`${file}.before-cordon`)).toBe(false)
})

test('does not replace a plugin of opencode that somebody else wrote', () => {
  const { cordon, write } = hookPlace()
  const file = write('project/.opencode/plugins/cordon.js', 'export const mine = 1\n')
  expect(cordon('hook', 'install', 'opencode').status).toBe(2)
  expect(readFileSync(file, 'utf8')).toBe('export const mine = 1\n')
})

test.each([
  ['the settings', '.claude/settings.local.json', 'victim'],
  ['their folder', '.claude', 'victims'],
])('of a project: %s must be no link, which could lead anywhere', (_, name, target) => {
  const { cordon, write, workspace } = hookPlace()
  const victim = write('victim', 'mine\n')
  const inFolder = write('victims/settings.local.json', '{}\n')
  mkdirSync(dirname(join(workspace, name)), { recursive: true })
  symlinkSync(join(dirname(victim), target), join(workspace, name))
  if (target === 'victim') writeFileSync(victim, '{}\n')
  expect(cordon('hook', 'install', 'claude-code')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('is a link') as string,
  })
  expect([readFileSync(victim, 'utf8'), readFileSync(inFolder, 'utf8')]).not.toContain('cordon-hook')
})

test('no folder is made where a link of a project leads, and one is made in a real folder', () => {
  const { cordon, workspace } = hookPlace()
  const elsewhere = join(dirname(workspace), 'elsewhere')
  mkdirSync(elsewhere)
  for (const [agent, link] of [
    ['vscode', '.github'],
    ['opencode', '.opencode'],
  ] as const) {
    symlinkSync(elsewhere, join(workspace, link))
    expect(cordon('hook', 'install', agent)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('its folder is a link') as string,
    })
    expect(readdirSync(elsewhere)).toEqual([])
  }
  rmSync(join(workspace, '.github'))
  mkdirSync(join(workspace, '.github'))
  expect(cordon('hook', 'install', 'vscode').status).toBe(0)
  expect(readdirSync(join(workspace, '.github/hooks'))).toEqual(['cordon.json'])
})

test.each(['before-cordon', 'cordon-new'])('a link at the name of a %s file is not followed', (ending) => {
  const { cordon, write, workspace } = hookPlace()
  const victim = write('victim', 'mine\n')
  write('project/.claude/settings.local.json', WRITTEN)
  symlinkSync(victim, join(workspace, `.claude/settings.local.json.${ending}`))
  expect(cordon('hook', 'install', 'claude-code').status).toBe(0)
  expect(readFileSync(victim, 'utf8')).toBe('mine\n')
  expect(readFileSync(join(workspace, '.claude/settings.local.json'), 'utf8')).toContain('cordon-hook')
})

test('settings of the user that are a link stay one, and keep their mode', () => {
  const { cordon, write, workspace } = hookPlace()
  const real = write('dotfiles/claude.json', '{ "a": 1 }\n')
  chmodSync(real, 0o640)
  const home = join(workspace, '../home')
  mkdirSync(join(home, '.claude'), { recursive: true })
  const link = join(home, '.claude/settings.json')
  symlinkSync(real, link)
  cordon('hook', 'install', 'claude-code', '--user')
  expect(readlinkSync(link)).toBe(real)
  expect(readFileSync(real, 'utf8')).toContain('cordon-hook')
  expect(statSync(real).mode & 0o777).toBe(0o640)
})

test('options that another installation drops are named, and unchanged ones are not', () => {
  const { cordon } = hookPlace()
  cordon('hook', 'install', 'claude-code', '--net', 'example.org', '--env', 'A=b c')
  const { stdout } = cordon('hook', 'install', 'claude-code', '--net', 'example.org', '--write', 'package.json')
  expect(stdout).toContain(`) replace: --env 'A=b c'.`)
  const same = cordon('hook', 'install', 'claude-code', '--net', 'example.org', '--write', 'package.json')
  expect(same.stdout).not.toContain('replace')
})

test('a file where the folder of the settings must be is named, with the fix', () => {
  const { cordon, write, workspace } = hookPlace()
  write('project/.claude', '')
  const ran = cordon('hook', 'install', 'claude-code')
  expect(ran.status).toBe(1)
  expect(ran.stderr).toContain(`${join(workspace, '.claude')} must be a folder`)
})

describe('options that would block every call', () => {
  test.each([
    ['a policy that does not exist', ['--policy', 'npmx'], 'did you mean --policy npm?'],
    ['a mode that does not exist', ['--mode', 'foo'], '--mode does not know "foo"'],
    ['a path that does not exist', ['--read', 'nowhere'], 'path-missing'],
    ['a workspace that does not exist', ['--workspace', 'nowhere'], 'is not a folder'],
    ['a rule file that does not exist', ['--rules', 'nowhere'], 'rules-unreadable'],
  ])('%s: nothing is installed, and the error of the call is given', (_, options, error) => {
    const { cordon, workspace } = hookPlace()
    const ran = cordon('hook', 'install', 'claude-code', ...options)
    expect(ran.status).not.toBe(0)
    expect(ran.stderr).toContain(error)
    expect(existsSync(join(workspace, '.claude'))).toBe(false)
  })

  test('rules that cannot be read keep the hook from being installed', () => {
    const { cordon, write, workspace } = hookPlace()
    const file = write('home/.config/cordon/rules.yaml', 'rules: [\n')
    const ran = cordon('hook', 'install', 'claude-code')
    expect(ran.status).not.toBe(0)
    expect(ran.stderr).toContain(file)
    expect(existsSync(join(workspace, '.claude'))).toBe(false)
    write('home/.config/cordon/rules.yaml', 'rules: []\n')
    expect(cordon('hook', 'install', 'claude-code').status).toBe(0)
  })

  test('a secret that each folder could give another meaning keeps the hook from being installed', () => {
    const place = hookPlace()
    const policy = place.write(
      'home/service.yaml',
      'network: [ api.test ]\ncredentials:\n  - { id: t, inject: { host: api.test, header: X-T } }\n',
    )
    const install = (source: string) =>
      place.cordon('hook', 'install', 'codex', '--policy', policy, '--secret', `t=${source}`)
    for (const source of ['command:./get.sh', 'file:token'])
      expect(install(source)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('needs an absolute path') as string,
      })
    expect(install(`file:${place.write('home/token', 'value')}`).status).toBe(0)
  })

  test('the home folder is no project, and a hook for all projects can be installed in it', () => {
    const { home, environment } = hookPlace()
    const inHome = (...words: readonly string[]) =>
      cordon(['hook', ...words], { cwd: home, environment: { ...environment, CLAUDE_PROJECT_DIR: home } })
    const refused = inHome('install', 'claude-code')
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain('hook-workspace-too-wide')
    const installed = inHome('install', 'claude-code', '--user')
    expect(installed).toMatchObject({ status: 0, stderr: '' })
    expect(installed.stdout).toContain('hook-workspace-too-wide')
  })
})

test.each([
  ['is given twice', '{ "hooks": {}, "theme": "dark", "hooks": {} }'],
  ['has no meaning', '{ "hooks": {}, "__proto__": {} }'],
])('settings in which a name %s, which agents may read otherwise, stay as they are', (problem, text) => {
  const place = hookPlace()
  const file = place.write('project/.claude/settings.local.json', text)
  expect(place.cordon('hook', 'install', 'claude-code')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(problem) as string,
  })
  expect(readFileSync(file, 'utf8')).toBe(text)
  place.write('project/.claude/settings.local.json', '{ "hooks": {}, "theme": { "hooks": {} } }')
  expect(place.cordon('hook', 'install', 'claude-code').status).toBe(0)
})

test('--print writes nothing', () => {
  const { cordon, workspace } = hookPlace()
  const ran = cordon('hook', 'install', 'claude-code', '--print')
  expect(JSON.parse(ran.stdout)).toMatchObject({ hooks: { PreToolUse: [{ hooks: [{ onFailure: 'block' }] }] } })
  expect(existsSync(join(workspace, '.claude'))).toBe(false)
})

test('code in variables of Node runs neither in the hook nor in Cordon around a command, and others arrive', () => {
  const { cordon, write, workspace, shell } = hookPlace()
  cordon('hook', 'install', 'claude-code', '--env', 'GREETING')
  const settings = JSON.parse(readFileSync(join(workspace, '.claude/settings.local.json'), 'utf8')) as {
    hooks: { PreToolUse: { hooks: { command: string }[] }[] }
  }
  const installed = settings.hooks.PreToolUse[0]?.hooks[0]?.command ?? ''
  const planted = join(workspace, '../planted')
  const evil = write('evil.cjs', `require('fs').appendFileSync(${JSON.stringify(planted)}, process.argv.join(' '))\n`)
  const set = `export GREETING=hello NODE_OPTIONS=--require=${evil};`
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'echo $GREETING' } }
  const message = write('message.json', JSON.stringify({ ...call, session_id: 's', cwd: workspace }))
  const answer = shell(`${set} ${installed} < ${message}`)
  expect(answer).toMatchObject({ status: 0, stderr: '' })
  const rewritten = String(answerIn(answer).updatedInput?.['command'])
  expect(shell(`${set} ${rewritten}`)).toMatchObject({ status: 0, stdout: 'hello\n' })
  // The launcher, which entries of MCP servers start too.
  expect(shell(`${set} '${DATA_HOME}/cordon/bin/cordon' --version`)).toMatchObject({ status: 0 })
  expect(existsSync(planted)).toBe(false)
  shell(`${set} '${process.execPath}' --eval ''`)
  expect(existsSync(planted)).toBe(true)
})

test('the installed command blocks if the hook prints nothing that says so', () => {
  const { cordon, workspace, shell } = hookPlace()
  cordon('hook', 'install', 'claude-code')
  const file = join(workspace, '.claude/settings.local.json')
  const settings = JSON.parse(readFileSync(file, 'utf8')) as {
    hooks: { PreToolUse: { hooks: { command: string }[] }[] }
  }
  const command = settings.hooks.PreToolUse[0]?.hooks[0]?.command ?? ''
  const message = { hook_event_name: 'PreToolUse', tool_name: 'TodoWrite', tool_input: {}, cwd: workspace }
  writeFileSync(join(workspace, 'message'), JSON.stringify(message))
  expect(shell(`cat message | ${command}`)).toMatchObject({ status: 0, stdout: '' })
  const killed = shell(`cat message | ${command.replace(/'hook' 'claude-code'/, "'no-such-command'")}`)
  expect(killed.status).toBe(2)
  expect(killed.stderr).toContain('the hook failed (status')
  const missing = shell(`cat message | ${command.replaceAll('/bin/cordon', '/bin/no-cordon')}`)
  expect(missing.status).toBe(2)
  expect(missing.stderr).toContain('fix: cordon hook install claude-code\n')
})

test('a wrong agent or option is refused, with the right one', () => {
  const { cordon } = hookPlace()
  expect(cordon('hook', 'install', 'cluade-code').stderr).toContain('claude-code')
  expect(cordon('hook', 'install').stderr).toContain('name one of')
  expect(cordon('hook', 'install', 'codex', '--project', '--user').status).toBe(2)
})
