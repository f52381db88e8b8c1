// A carve-out that names a symbolic link. What it leads to is protected with it, and every link on the way.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { cordon } from './cordon.js'

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-carved-links-')))
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'deep', 'real'), 'real\n')
  symlinkSync('deep/real', join(folder, 'second'))
  symlinkSync('second', join(folder, 'first'))
  symlinkSync('deep/missing', join(folder, 'dangling'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

describe.each(['namespaces', 'landlock'])('in the form %s', (form) => {
  const run = (carved: string, line: string) =>
    cordon(['run', '--form', form, '--write', '.', '--write', `!${carved}`, '--', 'sh', '-c', line], { cwd: folder })

  test.each([
    ['the link', 'echo planted > planted; ln -sfn planted first'],
    ['a link on the way', 'echo planted > planted; ln -sfn planted second'],
    ['what it leads to', 'echo planted > deep/real'],
    ['the folder of what it leads to', 'mv deep other; mkdir deep; echo planted > deep/real'],
  ])('%s cannot be replaced', (_, line) => {
    run('first', line)
    expect(readFileSync(join(folder, 'first'), 'utf8')).toBe('real\n')
    expect(run('first', 'echo made > deep/beside && cat deep/beside')).toMatchObject({ status: 0, stdout: 'made\n' })
  })

  test('what a dangling link leads to cannot be made', () => {
    expect(run('dangling', 'echo planted > deep/missing').status).not.toBe(0)
    expect(() => readFileSync(join(folder, 'dangling'))).toThrow('ENOENT')
    expect(run('dangling', 'echo made > deep/beside').status).toBe(0)
  })
})
