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
import { replaceFile } from '../../src/platform/index.js'

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
    replaceFile(path, 'one', 0o600)
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o640)
    replaceFile(path, 'two', 0o600)
    expect([readFileSync(path, 'utf8'), lstatSync(path).mode & 0o777]).toEqual(['two', 0o640])
  })

  test('replaces a link, and leaves its target as it was', () => {
    const [path, target] = [join(folder, 'a.json'), join(folder, 'target')]
    replaceFile(target, 'mine', 0o600)
    symlinkSync(target, path)
    replaceFile(path, 'new', 0o600)
    expect([readFileSync(target, 'utf8'), lstatSync(path).isFile()]).toEqual(['mine', true])
  })

  test('leaves nothing behind if it cannot be replaced', () => {
    const path = join(folder, 'a.json')
    mkdirSync(join(path, 'inner'), { recursive: true })
    expect(() => {
      replaceFile(path, 'new', 0o600)
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
