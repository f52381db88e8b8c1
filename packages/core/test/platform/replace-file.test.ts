// Files that are replaced in one step: pins of MCP servers, manifests, acceptances.
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { writeConsent } from '../../../mcp/src/consent/index.js'
import { realPathOf, replaceFile } from '../../src/platform/index.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-replace-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('a replaced file', () => {
  test('has the new text, and keeps its mode', () => {
    const path = join(folder, 'a.json')
    replaceFile(path, 'one', { mode: { ofNew: 0o600 } })
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o640)
    replaceFile(path, 'two', { mode: { ofNew: 0o600 } })
    expect([readFileSync(path, 'utf8'), lstatSync(path).mode & 0o777]).toEqual(['two', 0o640])
  })

  test('has exactly the mode that its writer names, also if it had another one', () => {
    const path = join(folder, 'token')
    replaceFile(path, 'one', { mode: 0o644 })
    replaceFile(path, 'two', { mode: 0o600 })
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
  })

  test('stays as it is if its writer changes its mind', () => {
    const path = join(folder, 'a.json')
    expect(replaceFile(path, 'one', { mode: 0o600 })).toBe(true)
    expect(replaceFile(path, 'two', { mode: 0o600, onlyIf: () => false })).toBe(false)
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['one', ['a.json']])
  })

  test('can be the target of a link', () => {
    const [link, target, missing] = [join(folder, 'link'), join(folder, 'target'), join(folder, 'missing')]
    replaceFile(target, 'old', { mode: 0o600 })
    symlinkSync(target, link)
    for (const path of [link, missing]) replaceFile(realPathOf(path) ?? path, 'new', { mode: 0o600 })
    expect([readFileSync(target, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['new', true])
    expect(readFileSync(missing, 'utf8')).toBe('new')
  })

  test('replaces a link, and leaves its target as it was', () => {
    const [path, target] = [join(folder, 'a.json'), join(folder, 'target')]
    replaceFile(target, 'mine', { mode: { ofNew: 0o600 } })
    symlinkSync(target, path)
    replaceFile(path, 'new', { mode: { ofNew: 0o600 } })
    expect([readFileSync(target, 'utf8'), lstatSync(path).isFile()]).toEqual(['mine', true])
  })

  test('leaves nothing behind if it cannot be replaced', () => {
    const path = join(folder, 'a.json')
    mkdirSync(join(path, 'inner'), { recursive: true })
    expect(() => {
      replaceFile(path, 'new', { mode: { ofNew: 0o600 } })
    }).toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
    expect(readdirSync(folder)).toEqual(['a.json'])
  })
})

test('pins of an MCP server are on the disk before they have their name, and then the name is', () => {
  const { fsyncSync, renameSync } = fs
  const steps: string[] = []
  fs.fsyncSync = (descriptor) => {
    steps.push(fs.fstatSync(descriptor).isDirectory() ? 'fsync of the folder' : 'fsync of the file')
    fsyncSync(descriptor)
  }
  fs.renameSync = (from, to) => {
    steps.push('rename')
    renameSync(from, to)
  }
  syncBuiltinESMExports()
  try {
    writeConsent(folder, { server: 'files', workspace: '/w' }, { kinds: [], pins: { a: 'sha256:1' }, held: {} })
  } finally {
    Object.assign(fs, { fsyncSync, renameSync })
    syncBuiltinESMExports()
  }
  expect(steps).toEqual(['fsync of the file', 'rename', 'fsync of the folder'])
  expect(readdirSync(folder)).toHaveLength(1)
})
