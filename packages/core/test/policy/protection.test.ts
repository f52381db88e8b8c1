import { describe, expect, it } from 'vitest'

import { PROTECTED_NAMES, isNamedBy, isWritable, protectionOf } from '../../src/policy/index.js'

import { boundaryOf, path, patterns } from './places.js'

const writable = (write: readonly string[], text: string) =>
  isWritable(boundaryOf({ filesystem: { write } }), path(`/home/ann/project/${text}`))

describe('inside a write root', () => {
  it.each([
    '.git/hooks/pre-commit',
    '.git/config',
    '.git/commondir',
    '.git/modules/lib/config',
    'deep/er/.git/hooks',
    '.cordon/policies/a.yaml',
    'sub/.bashrc',
    '.vscode/tasks.json',
    'sub/.mcp.json',
    '.venv/bin/python',
    '.envrc',
    '.claude/settings.json',
    'package.json',
    '.local/lib/python3.12/site-packages/usercustomize.py',
    'app/sitecustomize.py',
    'venv/lib/python3.12/site-packages/x.pth',
    '.config/systemd/user/evil.service',
    '.local/share/systemd/user/evil.service',
    '.local/share/dbus-1/services/evil.service',
    '.config/autostart/evil.desktop',
    '.tmux.conf',
    '.inputrc',
    'packages/a/pnpm-workspace.yaml',
    'rust-toolchain.toml',
    'crates/a/rust-toolchain',
    '.tool-versions',
    'global.json',
    '.github/hooks/x.json',
    '.jj/repo/config.toml',
    '.config/go/env',
    'composer.json',
  ])('%s cannot be written', (text) => {
    expect(writable(['.'], text)).toBe(false)
    expect(writable(['**'], text)).toBe(false)
  })

  it.each([
    '.git/HEAD',
    '.git/objects/aa/bb',
    '.git/hooks2',
    '.gitignore',
    'hooks',
    'config',
    'src/git/config',
    'a.bashrc',
    'node_modules/x/package.json',
    '.git',
    'locales/global.json',
    'vendor/a/composer.json',
    'node_modules/x/pnpm-workspace.yaml',
    '.nvmrc',
    'Makefile',
    'AGENTS.md',
    '.github/workflows/ci.yml',
    '.config/go/telemetry/a',
    '.ipython/profile_default/history.sqlite',
    'src/venv.py',
  ])('%s can be written', (text) => {
    expect(writable(['.'], text)).toBe(true)
  })

  it.each([
    [['.git/hooks/**'], '.git/hooks/pre-commit'],
    [['.', '.git/hooks'], '.git/hooks/pre-commit'],
    [['**', '**/package.json'], 'package.json'],
    [['**', '{package.json,tsconfig.json}'], 'package.json'],
    [['sub/*/.vscode/**', '.'], 'sub/a/.vscode/tasks.json'],
    [['.vscode/tasks.json'], '.vscode/tasks.json'],
  ])('%j names a protected name exactly: %s', (write, text) => {
    expect(writable(write, text)).toBe(true)
  })

  it.each([
    ['naming one does not name its twin elsewhere', ['.', '.git/hooks'], 'sub/.git/hooks/x'],
    ['naming .git does not name its hooks', ['.', '.git/**'], '.git/hooks/x'],
    ['a wildcard does not name', ['.', '.v*/**'], '.vscode/tasks.json'],
    ['a wildcard on files does not name', ['*.json'], 'package.json'],
    ['a carve-out does not name', ['.', '!.vscode'], '.vscode/x'],
    ['one protected name inside another stays protected', ['.', '.venv'], '.venv/.git/hooks/x'],
  ])('%s', (_, write, text) => {
    expect(writable(write, text)).toBe(false)
  })

  it('a workspace beneath a protected name is an ordinary workspace', () => {
    const write = patterns('/home/ann/.claude/worktrees/one')
    expect(protectionOf(write, path('/home/ann/.claude/worktrees/one/src/a.ts'))).toBeUndefined()
    expect(protectionOf(write, path('/home/ann/.claude/worktrees/one/.claude/settings.json'))).toMatchObject({
      entry: { name: '.claude' },
      path: '/home/ann/.claude/worktrees/one/.claude',
    })
  })
})

describe('the table of protected names', () => {
  it('gives each name once, with a reason', () => {
    expect(PROTECTED_NAMES.filter(({ because }) => because === '')).toEqual([])
    expect(new Set(PROTECTED_NAMES.map(({ name }) => name)).size).toBe(PROTECTED_NAMES.length)
  })

  it('has only plain names: no wildcard, no empty part, no . or ..', () => {
    const bad = PROTECTED_NAMES.filter(({ name }) =>
      name.split('/').some((part) => /^\.{0,2}$|[*?[\]{}\\!~]/.test(part)),
    )
    expect(bad).toEqual([])
  })

  it('lets the watcher check whether .git is a file, and accepts a grant that names it', () => {
    const entry = PROTECTED_NAMES.find(({ object }) => object === 'file')
    expect(entry?.name).toBe('.git')
    if (entry === undefined) return
    const link = path('/home/ann/project/.git')
    expect(protectionOf(patterns('.'), link)).toBeUndefined()
    expect(isNamedBy(patterns('.'), entry, link)).toBe(false)
    expect(isNamedBy(patterns('.git'), entry, link)).toBe(true)
    expect(isNamedBy(patterns('!.git'), entry, link)).toBe(false)
  })
})

describe('a name that is protected only directly in a write root', () => {
  it('is protected where the grant begins, and only there', () => {
    expect(writable(['sub'], 'sub/package.json')).toBe(false)
    expect(writable(['.'], 'sub/package.json')).toBe(true)
  })

  it.each([
    ['a folder', ['.', 'sub']],
    ['a pattern', ['sub', '**/*.json']],
  ])('granted by %s stays writable if another grant starts at its folder', (_, write) => {
    expect(writable(write, 'sub/package.json')).toBe(true)
  })
})
