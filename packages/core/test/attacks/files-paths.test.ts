import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { expectHeld, inMainCells, mustRun } from './harness.js'
import type { Cell, PolicyText } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

/** What a shell gets from reading each path, by path. */
const contents = async (
  cell: Cell,
  paths: readonly string[],
  policy: PolicyText,
  cwd?: string,
): Promise<Record<string, string>> => {
  const script = 'for path; do printf "%s\\t%s\\n" "$path" "$(cat "$path" 2>/dev/null)"; done'
  const call = await cell.run(['/bin/sh', '-c', script, 'sh', ...paths], {
    policy,
    ...(cwd === undefined ? {} : { cwd }),
  })
  return Object.fromEntries(
    call.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t') as [string, string]),
  )
}

describeCells('spellings of paths', (cell) => {
  test('cannot reach a folder whose name only starts like a granted one', async () => {
    const { file, folder } = playground()
    const up = folder('up')
    const twin = file('uploads/file')
    const granted = file('up/file', 'GRANTED')
    for (const grant of [up, `${up}/`, `${up}/**`, `${up}//`]) {
      expect(await contents(cell, [granted, twin], { filesystem: { read: [grant] } })).toEqual({
        [granted]: 'GRANTED',
        [twin]: '',
      })
    }
  })

  test('cannot write in a folder whose name only starts like a granted one', async () => {
    const { folder, root } = playground()
    const [up, uploads] = [folder('up'), folder('uploads')]
    const before = snapshot(uploads)
    await cell.run(
      [
        '/bin/sh',
        '-c',
        `echo x > '${uploads}/new'; echo x > '${up}/../uploads/new'; echo x > '${up}/new'; echo x > '${up}s'`,
      ],
      { policy: { filesystem: { write: [up] } } },
    )
    expect(snapshot(uploads)).toEqual(before)
    expect(existsSync(join(up, 'new'))).toBe(true)
    expect(existsSync(join(root, 'ups'))).toBe(false)
  })

  test('cannot reach another file by upper case, a URL, percent signs or a tilde', async () => {
    const { file, folder } = playground()
    const granted = file('data/file', 'GRANTED')
    file('DATA/file')
    file('data/%2e%2e/odd', 'GRANTED')
    const data = folder('data')
    const spellings = [
      granted.replace('/data/', '/DATA/'),
      `file://${granted}`,
      `${data}/%2e%2e/secret`,
      `${data}/..%2fsecret`,
      '~/secret',
      `${data}/~/secret`,
    ]
    file('secret')
    const got = await contents(cell, [granted, ...spellings], { filesystem: { read: [data] } })
    expect(got).toEqual({ ...Object.fromEntries(spellings.map((path) => [path, ''])), [granted]: 'GRANTED' })
  })

  test('are refused, not widened, if a grant is not a path', async () => {
    const { inside } = playground()
    for (const grant of [`${inside}/\0/x`, '', '/../../..', `${inside}/a\0b`]) {
      const call = await cell.call(['/bin/true'], { policy: { filesystem: { read: [grant] } } })
      if (grant === '/../../..') continue
      expect(call.kind, JSON.stringify(grant)).toBe('refused')
    }
  })

  test("get nothing above the policy's root by dots in a grant", async () => {
    const { file, inside } = playground()
    const secret = file('secret')
    const call = await cell.call(['/bin/cat', secret], {
      policy: { filesystem: { read: [`${inside}/sub/../../inside`] } },
    })
    if (call.kind === 'ran') expect(call.stdout).toBe('')
  })
})

describeCells('the working directory', (cell) => {
  test.each(['..', '.', 'outside', 'link'])(
    'does not widen the grants if the model chooses it (%s)',
    async (choice) => {
      const { file, inside, outside, root } = playground()
      file('secret')
      file('outside/secret')
      file('inside/granted', 'GRANTED')
      symlinkSync(outside, join(inside, 'link'))
      const cwd = choice === 'outside' ? outside : join(inside, choice)
      const before = snapshot(outside)
      const script =
        'cat secret ../secret ./outside/secret 2>/dev/null; echo x > planted; echo x > ../planted; cat "$1" ' +
        '2>/dev/null; true'
      const call = await cell.call(['/bin/sh', '-c', script, 'sh', join(inside, 'granted')], {
        policy: { filesystem: { read: ['.'] } },
        workspace: inside,
        cwd,
      })
      if (call.kind === 'ran') expect(call.stdout.replace('GRANTED', '')).toBe('')
      expect(snapshot(outside)).toEqual(before)
      expect(existsSync(join(root, 'planted'))).toBe(false)
      expect(existsSync(join(inside, 'planted'))).toBe(false)
    },
  )

  test('can be a granted folder, and relative grants start at the workspace', async () => {
    const { file, folder, inside } = playground()
    file('inside/granted', 'GRANTED')
    file('inside/sub/here', 'HERE')
    const call = await cell.run(['/bin/cat', 'here', '../granted'], {
      policy: { filesystem: { read: ['.'] } },
      workspace: inside,
      cwd: folder('inside/sub'),
    })
    expect(call.stdout).toBe('HEREGRANTED')
  })
})

describeCells('patterns', (cell) => {
  test('are not widened to their literal prefix for reading', async () => {
    const { file, inside } = playground()
    const names = ['a.txt', 'b.log', '.hidden.txt', 'sub/c.txt', 'sub/d.log', 'sub/deep/e.txt']
    const paths = names.map((name) => file(`inside/${name}`, 'content'))
    const readable = async (grant: string): Promise<readonly string[]> => {
      const got = await contents(cell, paths, { filesystem: { read: [grant] } })
      return names.filter((name) => got[join(inside, name)] === 'content')
    }
    expect(await readable(`${inside}/*.txt`)).toEqual(['a.txt', '.hidden.txt'])
    expect(await readable(`${inside}/*/*.txt`)).toEqual(['sub/c.txt'])
    expect(await readable(`${inside}/**/*.txt`)).toEqual(['a.txt', '.hidden.txt', 'sub/c.txt', 'sub/deep/e.txt'])
    expect(await readable(`${inside}/{a.txt,sub/d.log}`)).toEqual(['a.txt', 'sub/d.log'])
    expect(await readable(`${inside}/?.log`)).toEqual(['b.log'])
    expect(await readable(`${inside}/sub/**`)).toEqual(['sub/c.txt', 'sub/d.log', 'sub/deep/e.txt'])
  })

  test('are not widened to their literal prefix for writing', async () => {
    const { file, inside } = playground()
    const [text, log, deep] = [
      file('inside/a.txt', 'old'),
      file('inside/a.log', 'old'),
      file('inside/sub/a.txt', 'old'),
    ]
    const script =
      'for path; do echo new > "$path"; done; echo new > "$0/fresh.log"; rm -f "$0/a.log"; mv "$0/sub" "$0/gone"; true'
    await cell.run(['/bin/sh', '-c', script, inside, text, log, deep], {
      policy: { filesystem: { write: [`${inside}/*.txt`] } },
    })
    expect([text, log, deep].map((path) => readFileSync(path, 'utf8'))).toEqual(['new\n', 'old', 'old'])
    expect(existsSync(join(inside, 'fresh.log'))).toBe(false)
  })

  for (const [glob, options] of [
    ['/*.log', {}],
    ['/**/*.no-such-ending', inMainCells(cell)],
    ['/*/*.log', {}],
  ] as const)
    test(`for the whole file system do not open it (${glob})`, options, async () => {
      const { file, inside } = playground()
      const secret = file('secret')
      for (const filesystem of [{ read: [glob] }, { write: [glob] }]) {
        const call = await cell.call(['/bin/sh', '-c', `cat '${secret}'; echo x > '${inside}/planted'; true`], {
          policy: { filesystem },
        })
        if (call.kind === 'ran') expect(call.stdout).toBe('')
        expect(existsSync(join(inside, 'planted'))).toBe(false)
      }
    })

  test('relative to the workspace do not reach above it', async () => {
    const { file, inside } = playground()
    const secret = file('secret')
    const granted = file('inside/granted', 'GRANTED')
    const call = await cell.run(['/bin/sh', '-c', `cat '${secret}' '${granted}' 2>/dev/null; true`], {
      policy: { filesystem: { read: ['**'] } },
      workspace: inside,
    })
    expect(call.stdout).toBe('GRANTED')
  })

  test('that deny are expanded: their matches are absent, other files are not', async () => {
    const { file, inside } = playground()
    const keys = ['a.key', 'sub/b.key', 'sub/deep/.c.key'].map((name) => file(`inside/${name}`))
    const texts = ['a.txt', 'sub/deep/c.key.txt'].map((name) => file(`inside/${name}`, 'GRANTED'))
    const call = await cell.call(['/bin/cat', ...texts], {
      policy: { filesystem: { read: [inside, `!${inside}/**/*.key`] } },
    })
    expect(mustRun(call).stdout).toBe('GRANTEDGRANTED')
    const got = await contents(cell, keys, { filesystem: { read: [inside, `!${inside}/**/*.key`] } })
    expect(Object.values(got)).toEqual(['', '', ''])
  })

  test('that deny reading apply in a write root too', async () => {
    const { file, inside } = playground()
    const key = file('inside/sub/b.key')
    expectHeld(
      await cell.attack('read-path', [key, inside], {
        policy: { filesystem: { read: ['!**/*.key'], write: [inside] } },
        workspace: inside,
      }),
      {
        ...(cell.form === 'landlock' ? { 'hard-link': 'see the carve-outs' } : {}),
      },
    )
  })

  test('that deny a folder closed to its own user are not ignored', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('root reads closed folders')
    const { file, folder, inside } = playground()
    const key = file('inside/closed/b.key')
    chmodSync(folder('inside/closed'), 0o000)
    const call = await cell.call(['/bin/sh', '-c', `chmod 700 '${inside}/closed'; cat '${key}'; true`], {
      policy: { filesystem: { read: ['!**/*.key'], write: [inside] } },
      workspace: inside,
    })
    if (call.kind === 'ran') expect(call.stdout).toBe('')
  })

  test('without a match do not grant their folder', async () => {
    const { folder } = playground()
    const empty = folder('empty')
    mkdirSync(join(empty, 'sub'))
    const call = await cell.call(['/bin/sh', '-c', `echo x > '${empty}/x.txt'; true`], {
      policy: { filesystem: { write: [`${empty}/*.txt`] } },
    })
    if (call.kind === 'ran') expect(existsSync(join(empty, 'x.log'))).toBe(false)
    expect(snapshot(join(empty, 'sub'))).toHaveLength(1)
  })
})
