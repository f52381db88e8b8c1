// Whether an installed hook is in force, by the settings around it. The tests with the real agents try the same
// settings with the program that reads them.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cordon } from '../cli/cordon.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { hookPlace } from './hook-line.js'
import type { HookPlace } from './hook-line.js'

const OFF = '{ "disableAllHooks": true }'

const check = ({ workspace, environment }: HookPlace, agent: string, more: Readonly<Record<string, string>> = {}) =>
  cordon(['hook', 'check', agent], { cwd: workspace, environment: { ...environment, ...more } })

const IN_FORCE = { status: 0, stdout: expect.stringContaining(': in force') as string }
const notInForce = (why: string) => ({ status: 1, stdout: expect.stringContaining(why) as string })

test('without a hook the check fails, and says how to install one', () => {
  const place = hookPlace()
  expect(place.cordon('hook', 'check')).toMatchObject(notInForce('No hook is installed here.\nfix: '))
  const [none, fix] = ['No hook of Codex is installed here.', 'fix: cordon hook install codex']
  expect(check(place, 'codex')).toMatchObject(notInForce(`${none}\n${fix}\n`))
})

describe('a hook that would block every call', () => {
  const BLOCKS = 'in force, but it blocks every call'

  test('because of rules that nobody can read is reported with the file', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    const file = place.write('home/.config/cordon/rules.yaml', 'rules: [\n')
    expect(check(place, 'claude-code')).toMatchObject(notInForce(BLOCKS))
    expect(check(place, 'claude-code')).toMatchObject(notInForce(file))
  })

  test('in the home folder is reported there, and is in force in a project', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code', '--user')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    expect(check({ ...place, workspace: place.home }, 'claude-code')).toMatchObject(notInForce(BLOCKS))
    expect(place.cordon('hook', 'list').stdout).toMatch(/claude-code +user +yes/)
  })

  test('because a granted path is gone is reported with the path', () => {
    const place = hookPlace()
    const granted = place.write('granted', '')
    place.cordon('hook', 'install', 'codex', '--user', '--read', granted)
    place.cordon('hook', 'install', 'claude-code', '--read', granted)
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    rmSync(granted)
    expect(check(place, 'claude-code')).toMatchObject(notInForce(`path-missing: the granted path ${granted}`))
    expect(check(place, 'codex')).toMatchObject(notInForce('path-missing'))
  })
})

describe('a user without a home, as in many containers', () => {
  const homeless = { HOME: '', XDG_CONFIG_HOME: '' }

  test('has no hooks of the user, and doctor still examines the host', IN_MATRIX, () => {
    const place = hookPlace()
    const doctor = (more: Readonly<Record<string, string>>) =>
      cordon(['doctor', '--json'], { cwd: place.workspace, environment: { ...place.environment, ...more } })
    place.cordon('hook', 'install', 'claude-code', '--user')
    expect(JSON.parse(doctor({}).stdout)).toMatchObject({ hooks: [{ agent: 'claude-code', in_force: true }] })
    expect(JSON.parse(doctor(homeless).stdout)).toMatchObject({ hooks: [], mechanisms: expect.any(Object) as object })
    const moved = { ...homeless, CLAUDE_CONFIG_DIR: join(place.home, '.claude') }
    expect(JSON.parse(doctor(moved).stdout)).toMatchObject({ hooks: [{ agent: 'claude-code', scope: 'user' }] })
  })

  test('has no proof that the hook of a project holds', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    expect(check(place, 'claude-code', homeless)).toMatchObject(notInForce('HOME'))
  })
})

describe('Claude Code', () => {
  test('a project that turns hooks off turns off the hook of the user, and install, list and doctor say it', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code', '--user')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    const file = place.write('project/.claude/settings.json', OFF)
    expect(check(place, 'claude-code')).toMatchObject(notInForce(`${file} turns all hooks off`))
    const said = place.cordon('hook', 'install', 'claude-code', '--user').stdout
    expect(said).toContain('NOT in force')
    expect(said).toMatch(/fix: .*in this project.*: cordon hook install claude-code\n/)
    expect(place.cordon('hook', 'list').stdout).toMatch(/claude-code +user +no/)
    expect(place.cordon('doctor').stdout).toContain('NOT in force')
  })

  test('the hook of the project holds against the shared settings of the project, and leaves nothing behind', () => {
    const place = hookPlace()
    place.write('project/.claude/settings.json', OFF)
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    place.cordon('hook', 'uninstall', 'claude-code')
    place.cordon('hook', 'install', 'claude-code', '--user')
    expect(check(place, 'claude-code')).toMatchObject(notInForce('turns all hooks off'))
  })

  test('own settings of the project that turn hooks off stay, and the check names them', () => {
    const place = hookPlace()
    const file = place.write('project/.claude/settings.local.json', OFF)
    expect(place.cordon('hook', 'install', 'claude-code').stdout).toContain('NOT in force')
    expect(check(place, 'claude-code')).toMatchObject(notInForce(`${file} turns all hooks off`))
    expect(check(place, 'claude-code')).toMatchObject(notInForce(`fix: remove "disableAllHooks" from ${file}`))
  })

  test.each([
    ['a matcher of no tool', '"matcher": "*"', '"matcher": "NoSuchTool"'],
    ['a time that is too short', '"timeout": 40', '"timeout": 0.001'],
    ['another type', '"type": "command"', '"type": "prompt"'],
    ['a condition', '"matcher": "*"', '"matcher": "*", "if": "Bash(x)"'],
    ['words before its command', `"command": "'/bin/sh'`, `"command": "exit 0; '/bin/sh'`],
    ['words behind its command', `'cordon-hook'`, `'true' 'cordon-hook'`],
  ])('an entry with %s is no proof that the hook holds', (_, own, other) => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code')
    const file = join(place.workspace, '.claude/settings.local.json')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(own)
    writeFileSync(file, text.replace(own, other))
    expect(check(place, 'claude-code')).toMatchObject(notInForce('not as this version of Cordon writes it'))
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
  })

  test('settings that cannot be read are no proof that the hook holds', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code')
    place.write('project/.claude/settings.json', '{ "disableAllHooks": ')
    expect(check(place, 'claude-code')).toMatchObject(notInForce('cannot be read'))
  })

  test.each(['.claude/settings.json', '.claude/settings.local.json'])(
    'variables in %s of a project that change the hook are named, and others are not',
    (name) => {
      const place = hookPlace()
      place.cordon('hook', 'install', 'claude-code', '--user')
      const steering = ['NODE_OPTIONS', 'PATH', 'XDG_DATA_HOME', 'BASH_ENV', 'LD_PRELOAD', 'CLAUDE_CODE_SHELL_PREFIX']
      for (const variable of steering) {
        const file = place.write(`project/${name}`, JSON.stringify({ env: { EDITOR: 'vi', [variable]: 'x' } }))
        expect(check(place, 'claude-code')).toMatchObject(notInForce(`${file} sets ${variable}, `))
      }
      const others = { NODE_ENV: 'test', DATABASE_URL: 'x', MY_PATH: 'x', CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9' }
      place.write(`project/${name}`, JSON.stringify({ env: others }))
      expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
    },
  )

  test('variables in settings of the user are chosen by the user', () => {
    const place = hookPlace()
    place.write('home/.claude/settings.json', '{ "env": { "NODE_OPTIONS": "--max-old-space-size=4096" } }')
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code')).toMatchObject(IN_FORCE)
  })

  test.each(['CLAUDE_CODE_SAFE_MODE', 'CLAUDE_CODE_SIMPLE'])('%s turns hooks off', (variable) => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code', { [variable]: '1' })).toMatchObject(notInForce(`${variable} turns hooks off`))
    expect(check(place, 'claude-code', { [variable]: '0' })).toMatchObject(IN_FORCE)
  })

  test('the folder of CLAUDE_CONFIG_DIR is the one that counts', () => {
    const place = hookPlace()
    const elsewhere = { CLAUDE_CONFIG_DIR: join(place.root, 'elsewhere') }
    place.cordon('hook', 'install', 'claude-code', '--user')
    expect(check(place, 'claude-code', elsewhere)).toMatchObject({ status: 1 })
    const words = ['hook', 'install', 'claude-code', '--user']
    cordon(words, { cwd: place.workspace, environment: { ...place.environment, ...elsewhere } })
    expect(check(place, 'claude-code', elsewhere)).toMatchObject(IN_FORCE)
  })

  test.each([
    ['2.0.5', notInForce('older than')],
    ['2.1.327', IN_FORCE],
  ])('a program of version %s', (version, expected) => {
    const place = hookPlace()
    const folder = join(place.root, 'node_modules/@anthropic-ai/claude-code')
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@anthropic-ai/claude-code', version }))
    writeFileSync(join(folder, 'bin/claude.exe'), '', { mode: 0o755 })
    mkdirSync(join(place.root, 'bin'))
    symlinkSync(join(folder, 'bin/claude.exe'), join(place.root, 'bin/claude'))
    place.cordon('hook', 'install', 'claude-code')
    expect(check(place, 'claude-code', { PATH: `${place.root}/bin:/usr/bin:/bin` })).toMatchObject(expected)
  })
})

describe('Codex', () => {
  test('a hook that nobody trusted is not in force, and install says it', () => {
    const place = hookPlace()
    expect(place.cordon('hook', 'install', 'codex', '--user').stdout).toContain('/hooks')
    expect(check(place, 'codex')).toMatchObject(notInForce('nobody has trusted the hook'))
  })

  test('a hook of a project that Codex does not trust is not read', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'codex')
    expect(check(place, 'codex')).toMatchObject(notInForce('does not trust the project'))
    place.write('home/.codex/config.toml', `[projects."${place.workspace}"]\ntrust_level = "trusted"\n`)
    expect(check(place, 'codex').stdout).not.toContain('does not trust the project')
  })

  test('variables of commands that a trusted project sets are named', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'codex', '--user')
    place.write('home/.codex/config.toml', `[projects."${place.workspace}"]\ntrust_level = "trusted"\n`)
    const set = (variable: string) =>
      place.write('project/.codex/config.toml', `[shell_environment_policy.set]\n${variable} = "x"\n`)
    const file = set('NODE_OPTIONS')
    expect(check(place, 'codex').stdout).toContain(`${file} sets NODE_OPTIONS, `)
    set('NODE_ENV')
    expect(check(place, 'codex').stdout).not.toContain(' sets ')
  })

  test('hooks that are turned off are named with the file', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'codex', '--user')
    const file = place.write('home/.codex/config.toml', '[features]\nhooks = false\n')
    expect(check(place, 'codex')).toMatchObject(notInForce(`${file} turns hooks off`))
  })
})

describe('Gemini CLI', () => {
  test.each(['.env', '.gemini/.env'])('variables in %s of a project that change the hook are named', (name) => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'gemini', '--user')
    const file = place.write(`project/${name}`, 'TOKEN=x\nexport NODE_OPTIONS="--require=./x.js"\n')
    expect(check(place, 'gemini')).toMatchObject(notInForce(`${file} sets NODE_OPTIONS, `))
    // Gemini CLI does not replace a variable that is set, and looks no further than the first file.
    place.write('.env', 'LD_PRELOAD=x\n')
    place.write(`project/${name}`, `TOKEN=x\nNODE_ENV=test\nXDG_DATA_HOME=/elsewhere\n# PATH=x\n`)
    expect(check(place, 'gemini')).toMatchObject(IN_FORCE)
    rmSync(file)
    expect(check(place, 'gemini')).toMatchObject(notInForce('sets LD_PRELOAD, '))
  })

  test('variables in a file of the user, and a folder of that name, change nothing', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'gemini', '--user')
    place.write('home/.env', 'NODE_OPTIONS=--max-old-space-size=4096\n')
    const workspace = join(place.home, 'project')
    mkdirSync(workspace)
    expect(check({ ...place, workspace }, 'gemini')).toMatchObject(IN_FORCE)
    mkdirSync(join(workspace, '.env'))
    expect(check({ ...place, workspace }, 'gemini')).toMatchObject(IN_FORCE)
  })

  test.each([
    ['turns all hooks off', '{ "hooksConfig": { "enabled": false } }'],
    ['turns this hook off', '{ "hooksConfig": { "disabled": ["cordon"] } }'],
  ])('a project that %s', (why, settings) => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'gemini', '--user')
    expect(check(place, 'gemini')).toMatchObject(IN_FORCE)
    place.write('project/.gemini/settings.json', settings)
    expect(check(place, 'gemini')).toMatchObject(notInForce(why))
  })

  test('a folder that the user does not trust runs no hooks', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'gemini', '--user')
    place.write('home/.gemini/trustedFolders.json', JSON.stringify({ [place.root]: 'DO_NOT_TRUST' }))
    expect(check(place, 'gemini')).toMatchObject(notInForce('is not trusted'))
    const nearer = { [place.root]: 'DO_NOT_TRUST', [place.workspace]: 'TRUST_FOLDER' }
    place.write('home/.gemini/trustedFolders.json', JSON.stringify(nearer))
    expect(check(place, 'gemini')).toMatchObject(IN_FORCE)
  })
})

describe('opencode', () => {
  test('a variable that leaves plugins out is named', () => {
    const place = hookPlace()
    place.cordon('hook', 'install', 'opencode')
    expect(check(place, 'opencode')).toMatchObject(IN_FORCE)
    expect(check(place, 'opencode', { OPENCODE_PURE: '1' })).toMatchObject(notInForce('OPENCODE_PURE'))
    const withoutProject = { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }
    expect(check(place, 'opencode', withoutProject)).toMatchObject(notInForce('--user'))
    place.cordon('hook', 'install', 'opencode', '--user')
    expect(check(place, 'opencode', withoutProject)).toMatchObject({ status: 0 })
  })
})

test.each(['cursor', 'vscode'])('for %s the check does not claim what was never tried', (agent) => {
  const place = hookPlace()
  place.cordon('hook', 'install', agent)
  expect(check(place, agent)).toMatchObject(notInForce('was not tried with the real'))
})

test('only agents with settings of the machine take --managed', () => {
  const place = hookPlace()
  for (const agent of ['gemini', 'cursor', 'vscode', 'opencode'])
    expect(place.cordon('hook', 'install', agent, '--managed')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('knows no settings') as string,
    })
})
