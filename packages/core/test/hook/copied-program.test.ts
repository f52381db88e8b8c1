// The copy of Cordon that hooks start.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

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

const cordon = (words: readonly string[], input = '') => {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: project,
    encoding: 'utf8',
    input,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: join(root, 'home'), CLAUDE_PROJECT_DIR: project },
  })
  return { status, stdout, stderr }
}

const data = () => join(root, 'home/.local/share/cordon')
const install = () => cordon(['hook', 'install', 'claude-code'])
const check = () => cordon(['hook', 'check', 'claude-code'])

test('a hook that is started from a write root refuses, with the fix', () => {
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'true' }, cwd: project }
  const answer = cordon(['hook', 'claude-code'], JSON.stringify(call))
  expect(answer.status).toBe(2)
  expect(answer.stderr).toContain('program-in-write-root')
  expect(answer.stderr).toContain('cordon hook install claude-code')
  expect(cordon(['hook', 'claude-code', '--from-package'], JSON.stringify(call))).toMatchObject({ status: 0 })
  expect(cordon(['run', '--write', '.', '--mode', 'never', '--', 'true']).status).toBe(0)
})

test('the check names a Node that is gone, and a copy that is missing or stale', () => {
  expect(install().status).toBe(0)
  expect(check()).toMatchObject({ status: 0, stderr: '' })
  const launcher = join(data(), 'bin/cordon')
  const text = readFileSync(launcher, 'utf8')
  writeFileSync(launcher, text.replace(/exec '[^']*'/, "exec '/gone/node'"))
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('/gone/node') as string })
  writeFileSync(launcher, text)
  const [name = ''] = readdirSync(join(data(), 'programs'))
  const folder = join(data(), 'programs', name)
  renameSync(folder, `${folder}.moved`)
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('the copy of Cordon is gone') as string })
  const older = join(data(), 'programs', '0.0.9-0123456789ab')
  renameSync(`${folder}.moved`, older)
  writeFileSync(launcher, text.replace(name, '0.0.9-0123456789ab'))
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('is stale') as string })
  expect(install().status).toBe(0)
  expect(check().status).toBe(0)
  // Nothing names the older one any more.
  expect(existsSync(older)).toBe(false)
})

test('a hook whose grants contain the copy refuses with a way out, and install and check say so', IN_MATRIX, () => {
  const wide = cordon(['hook', 'install', 'claude-code', '--write', join(root, 'home')])
  expect(wide.stdout).toContain('every call is refused')
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('grant folders that do not') as string })
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'true' }, cwd: project }
  const { status, stderr } = spawnSync(
    join(data(), 'bin/cordon'),
    ['hook', 'claude-code', '--write', join(root, 'home')],
    {
      cwd: project,
      encoding: 'utf8',
      input: JSON.stringify(call),
      env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home'), CLAUDE_PROJECT_DIR: project },
    },
  )
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
    const { stdout } = spawnSync(join(data(), 'bin/cordon'), ['hook', 'claude-code'], {
      cwd: project,
      encoding: 'utf8',
      input: JSON.stringify(call),
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: join(root, 'home'), CLAUDE_PROJECT_DIR: project },
    })
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
  symlinkSync('../cordon/bin/cordon.js', script)
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
