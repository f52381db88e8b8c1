// The copy of Cordon that hooks start.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installPackage } from '../../../../test/installed-package.js'
import { IN_MATRIX } from '../../../../test/turns.js'

let root = ''
let project = ''
let command = ''
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-copied-')))
  project = join(root, 'project')
  mkdirSync(join(root, 'home'))
  command = installPackage(project)
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

const environment = () => ({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: join(root, 'home'),
  CLAUDE_PROJECT_DIR: project,
  CORDON_HOST: 'off',
})

const start = (program: string, words: readonly string[], input = '', more: Readonly<Record<string, string>> = {}) => {
  const env = { ...environment(), ...more }
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: project, encoding: 'utf8', input, env })
  return { status, stdout, stderr }
}

const shellCall = (line: string): string =>
  JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: line }, cwd: project })

const cordon = (words: readonly string[], input = '') => start(command, words, input)

const data = () => join(root, 'home/.local/share/cordon')
const install = () => cordon(['hook', 'install', 'claude-code'])
const check = () => cordon(['hook', 'check', 'claude-code'])

test('a hook that is started from a write root refuses, with the fix', () => {
  const answer = cordon(['hook', 'claude-code'], shellCall('true'))
  expect(answer.status).toBe(2)
  expect(answer.stderr).toContain('program-in-write-root')
  expect(answer.stderr).toContain('cordon hook install claude-code')
  expect(cordon(['hook', 'claude-code', '--from-package'], shellCall('true'))).toMatchObject({ status: 0 })
  expect(cordon(['run', '--write', '.', '--mode', 'never', '--', 'true']).status).toBe(0)
})

test('the check names a Node that is gone, and a copy that is missing or stale', () => {
  expect(install().status).toBe(0)
  expect(check()).toMatchObject({ status: 0, stderr: '' })
  const launcher = join(data(), 'bin/cordon')
  const text = readFileSync(launcher, 'utf8')
  writeFileSync(launcher, text.replace(/^exec '[^']*'/m, "exec '/gone/node'"))
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('/gone/node') as string })
  writeFileSync(launcher, text)
  const [name = ''] = readdirSync(join(data(), 'programs'))
  const folder = join(data(), 'programs', name)
  renameSync(folder, `${folder}.moved`)
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('the copy of Cordon is gone') as string })
  const older = join(data(), 'programs', '0.0.9-0123456789ab')
  renameSync(`${folder}.moved`, older)
  writeFileSync(launcher, text.replaceAll(name, '0.0.9-0123456789ab'))
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('is stale') as string })
  expect(install().status).toBe(0)
  expect(check().status).toBe(0)
  // Nothing names the older one any more.
  expect(existsSync(older)).toBe(false)
})

describe('the native program of the copy', () => {
  const copy = () => join(data(), 'programs', readdirSync(join(data(), 'programs'))[0] ?? '')
  const hook = (more: Readonly<Record<string, string>> = {}) =>
    start(join(data(), 'bin/cordon'), ['hook', 'claude-code'], shellCall('echo ran'), more)
  const commandOf = (stdout: string): string =>
    /"command":\s*"(?<text>(?:[^"\\]|\\.)*)"/.exec(stdout)?.groups?.['text'] ?? ''
  const expectRuns = (rewritten: string): void => {
    expect(start('/bin/sh', ['-c', JSON.parse(`"${rewritten}"`) as string])).toMatchObject({ stdout: 'ran\n' })
  }

  test('answers the hook, and runs what it rewrote', () => {
    expect(install().status).toBe(0)
    expect(readFileSync(join(copy(), 'bin/cordon')).toString('latin1', 1, 4)).toBe('ELF')
    const rewritten = commandOf(hook().stdout)
    expect(rewritten).toContain(`'cordon' '${copy()}/bin/cordon' 'run' `)
    expectRuns(rewritten)
    expect(check().status).toBe(0)
  })

  test('is not needed: without it, Node does the same', () => {
    rmSync(join(copy(), 'bin/cordon'))
    const rewritten = commandOf(hook().stdout)
    expect(rewritten).toContain(`${copy()}/bin/cordon.js' 'run' `)
    expectRuns(rewritten)
    expect(check().status).toBe(0)
    expect(install().status).toBe(0)
    expect(commandOf(hook().stdout)).toContain(`'${copy()}/bin/cordon' 'run' `)
  })

  test('starts no other Node that the search path has, where its own is gone', () => {
    const launcher = join(data(), 'bin/cordon')
    const text = readFileSync(launcher, 'utf8')
    const planted = join(root, 'planted')
    mkdirSync(planted)
    writeFileSync(join(planted, 'node'), `#!/bin/sh\ntouch ${planted}/started\n`, { mode: 0o755 })
    const PATH = `${planted}:/usr/bin:/bin`
    expect(hook({ PATH }).status).toBe(0)
    writeFileSync(launcher, text.replaceAll(/'[^']*\/node'/g, "'/gone/node'"))
    expect(hook({ PATH }).status).toBe(127)
    writeFileSync(launcher, text)
    expect(existsSync(join(planted, 'started'))).toBe(false)
  })

  test('names the Node that installed the hook last', () => {
    const front = join(copy(), 'bin/cordon.front')
    const text = readFileSync(front, 'utf8')
    writeFileSync(front, text.replace(/\n.*\n/, '\n/gone/node\n'))
    expect(install().status).toBe(0)
    expect(readFileSync(front, 'utf8')).toBe(text)
  })
})

test('a hook whose grants contain the copy refuses with a way out, and install and check say so', IN_MATRIX, () => {
  const wide = cordon(['hook', 'install', 'claude-code', '--write', join(root, 'home')])
  expect(wide.stdout).toContain('every call is refused')
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('grant folders that do not') as string })
  const words = ['hook', 'claude-code', '--write', join(root, 'home')]
  const { status, stderr } = start(join(data(), 'bin/cordon'), words, shellCall('true'))
  expect(status).toBe(2)
  expect(stderr).toContain('grant folders that do not contain it')
  expect(install().status).toBe(0)
  expect(check().status).toBe(0)
})

test('a file tool cannot make or change what the project would start, and can write beside it', () => {
  expect(install().status).toBe(0)
  const decisionFor = (path: string): string => {
    const call = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      cwd: project,
      permission_mode: 'acceptEdits',
      tool_input: { file_path: join(project, 'node_modules', path), content: 'x' },
    }
    const { stdout } = start(join(data(), 'bin/cordon'), ['hook', 'claude-code'], JSON.stringify(call))
    return /"permissionDecision":\s*"(\w+)"/.exec(stdout)?.[1] ?? 'none'
  }
  const script = join(project, 'node_modules/.bin/cordon')
  expect(decisionFor('.bin/cordon')).toBe('deny')
  rmSync(script)
  expect(decisionFor('.bin/cordon')).toBe('deny')
  writeFileSync(script, '#!/bin/sh\n')
  expect(decisionFor('.bin/cordon')).toBe('deny')
  expect(decisionFor('@cordon/mcp/package.json')).toBe('deny')
  expect(decisionFor('@cordon/team/package.json')).toBe('deny')
  expect(decisionFor('smol-toml/package.json')).toBe('deny')
  expect(decisionFor('left-pad/index.js')).not.toBe('deny')
  rmSync(script)
  symlinkSync('../cordon/bin/cordon', script)
})

const isNotCopied = (name: string): void => {
  const file = join(project, 'node_modules/cordon', name)
  const before = readFileSync(file)
  appendFileSync(file, '\n')
  const refused = install()
  writeFileSync(file, before)
  expect(refused.status).not.toBe(0)
  expect(refused.stderr).toContain('program-altered')
  expect(install().status).toBe(0)
}

test('a package with a changed bin/load-bundle.js is not copied', () => {
  isNotCopied('bin/load-bundle.js')
})

test('a package with a changed ../smol-toml/dist/index.js is not copied', IN_MATRIX, () => {
  isNotCopied('../smol-toml/dist/index.js')
})
