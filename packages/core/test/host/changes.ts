// What the local host remembers is never older than the files: a change between two served runs counts in the second.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

import { frontPlace, servedOf } from './front.js'

const place = frontPlace()
const { at, put } = place

/** Long enough for the memory to trust its stamps. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120))

const served = (words: readonly string[], more = {}) => {
  let ran: ReturnType<typeof place.run> | undefined
  expect(servedOf(() => (ran = place.run(['run', ...words], more)))).toBe(1)
  return ran ?? { status: null, stdout: '', stderr: '' }
}

/** Runs the words until nothing is looked at anew, changes something, and runs them again. */
const changed = async (words: readonly string[], change: () => void, more = {}) => {
  await settled()
  const before = [served(words, more), served(words, more)] as const
  expect(before[1]).toEqual(before[0])
  change()
  return { before: before[0], after: served(words, more) }
}

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testChanges = (): void => {
  describe('between two runs', tests)
}

const tests = (): void => {
  test('a policy file that is changed in place, with its old length and times', async () => {
    put('policy.yaml', 'filesystem: { read: [./one] }\n')
    for (const name of ['one', 'two']) put(name, `${name}\n`)
    const old = new Date(Date.now() - 100_000)
    utimesSync(at('policy.yaml'), old, old)
    const words = ['--policy', './policy.yaml', '--', 'sh', '-c', `cat ${at('one')} ${at('two')} 2>/dev/null`]
    const { before, after } = await changed(words, () => {
      put('policy.yaml', 'filesystem: { read: [./two] }\n')
      utimesSync(at('policy.yaml'), old, old)
    })
    expect([before.stdout, after.stdout]).toEqual(['one\n', 'two\n'])
  })

  test('a policy file that another one replaces', async () => {
    put('replaced.yaml', 'filesystem: { read: [./one] }\n')
    const { before, after } = await changed(['--policy', './replaced.yaml', '--', 'cat', at('one')], () => {
      put('next.yaml', 'filesystem: { read: [./two] }\n')
      renameSync(at('next.yaml'), at('replaced.yaml'))
    })
    expect(before.stdout).toBe('one\n')
    expect(after.status).not.toBe(0)
  })

  const DENY = 'rules:\n  - { effect: deny, tool: "*", because: changed }\n'
  const refusals: readonly (readonly [string, string])[] = [
    ['rules of the user that did not exist', '.config/cordon/rules.yaml'],
    ['a further file of rules of the user', '.config/cordon/rules/more.yaml'],
    ['rules of the project that did not exist', '.cordon/rules.yaml'],
  ]
  test.each(refusals)('%s', async (_, file) => {
    const { before, after } = await changed(['--', 'true', file], () => {
      put(file, DENY)
    })
    expect(before.status).toBe(0)
    expect(after).toMatchObject({ status: 125, stderr: expect.stringContaining('changed') as string })
    unlinkSync(at(file))
    expect(served(['--', 'true', file]).status).toBe(0)
  })

  test('rules that everybody may write to, or may no longer', async () => {
    put('.config/cordon/rules.yaml', 'rules: []\n')
    const { before, after } = await changed(['--', 'true', 'open'], () => {
      chmodSync(at('.config/cordon/rules.yaml'), 0o666)
    })
    expect([before.status, after.status]).toEqual([0, 125])
    chmodSync(at('.config/cordon/rules.yaml'), 0o644)
    expect(served(['--', 'true', 'open']).status).toBe(0)
    unlinkSync(at('.config/cordon/rules.yaml'))
  })

  test('a program that another folder of PATH now has first', async () => {
    for (const folder of ['first', 'second']) mkdirSync(at(folder), { recursive: true })
    put('second/tool', '#!/bin/sh\necho second\n')
    chmodSync(at('second/tool'), 0o755)
    const path = { PATH: `${at('first')}:${at('second')}:/usr/bin:/bin` }
    const words = ['--read', './first/**', '--read', './second/**', '--exec', 'all', '--', 'tool']
    const { before, after } = await changed(
      words,
      () => {
        put('first/tool', '#!/bin/sh\necho first\n')
        chmodSync(at('first/tool'), 0o755)
      },
      path,
    )
    expect([before.stdout, after.stdout]).toEqual(['second\n', 'first\n'])
  })

  test('a granted folder that is a link now', async () => {
    put('granted/text', 'granted\n')
    const { before, after } = await changed(['--read', './granted/**', '--', 'cat', at('granted/text')], () => {
      renameSync(at('granted'), at('elsewhere'))
      symlinkSync('elsewhere', at('granted'))
    })
    expect(before.stdout).toBe('granted\n')
    expect(after).toMatchObject({ status: 125, stderr: expect.stringContaining('path-is-symlink') as string })
  })

  test('a file that a pattern grants now, and one that a carve-out hides now', async () => {
    put('tree/a.txt', 'a\n')
    const { before, after } = await changed(
      ['--read', './tree/*.txt', '--', 'sh', '-c', `cat ${at('tree')}/*.txt`],
      () => {
        put('tree/b.txt', 'b\n')
      },
    )
    expect([before.stdout, after.stdout]).toEqual(['a\n', 'a\nb\n'])
    const words = ['--read', './tree/**', '--read', '!**/*.key', '--', 'sh', '-c', `cat ${at('tree')}/* 2>/dev/null`]
    const hidden = await changed(words, () => {
      put('tree/c.key', 'c\n')
    })
    expect(hidden.before.stdout).toBe('a\nb\n')
    expect(hidden.after.stdout).toBe('a\nb\n')
  })

  test('a Cordon that the project now has, whose files no command may change', async () => {
    const words = [
      '--write',
      './**',
      '--',
      'sh',
      '-c',
      'cd node_modules; for f in cordon/bin/cordon.js other; do echo changed > $f; done; true',
    ]
    mkdirSync(at('node_modules'), { recursive: true })
    await changed(words, () => {
      rmSync(at('node_modules'), { recursive: true, force: true })
      put('node_modules/cordon/package.json', '{"name":"cordon","version":"0.0.1"}')
      put('node_modules/cordon/bin/cordon.js', 'own\n')
      put('node_modules/other', 'other\n')
    })
    expect(readFileSync(at('node_modules/other'), 'utf8')).toBe('changed\n')
    expect(served(['--read', './**', '--', 'cat', at('node_modules/cordon/bin/cordon.js')]).stdout).toBe('own\n')
  })

  test('a working folder that is gone, and comes back as a link', async () => {
    mkdirSync(at('work'), { recursive: true })
    const { before, after } = await changed(['--cwd', at('work'), '--', 'pwd'], () => {
      renameSync(at('work'), at('moved'))
    })
    expect(before.stdout).toBe(`${at('work')}\n`)
    expect(after.status).toBe(125)
    symlinkSync('moved', at('work'))
    expect(served(['--cwd', at('work'), '--', 'pwd']).stdout).toBe(`${at('moved')}\n`)
  })
}
