// Folders that Cordon makes for its own files.
import { mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { makeFolders } from '../../src/platform/index.js'

const place = (): string => mkdtempSync(join(tmpdir(), 'cordon-folders-'))

test('makes a folder with those above it, and leaves one that is there as it is', () => {
  const root = place()
  makeFolders(join(root, 'a/b/c'), 0o700)
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
  writeFileSync(join(root, 'a/b/c/file'), '')
  makeFolders(join(root, 'a/b/c'), 0o755)
  expect(statSync(join(root, 'a/b/c')).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(root, 'a/b/c'))).toEqual(['file'])
})

test('a link to a folder counts as this folder', () => {
  const root = place()
  makeFolders(join(root, 'real'))
  symlinkSync('real', join(root, 'link'))
  makeFolders(join(root, 'link/below'))
  expect(readdirSync(join(root, 'real'))).toEqual(['below'])
})

test('fails at a file, and at a link that leads nowhere', () => {
  const root = place()
  writeFileSync(join(root, 'file'), '')
  symlinkSync('nowhere', join(root, 'link'))
  expect(() => {
    makeFolders(join(root, 'file'))
  }).toThrow('EEXIST')
  expect(() => {
    makeFolders(join(root, 'link/below'))
  }).toThrow()
})

test.skipIf(process.platform !== 'linux')('fails below /proc, where nobody can make a folder', () => {
  expect(() => {
    makeFolders('/proc/no-such-folder/below')
  }).toThrow('ENOENT')
})
