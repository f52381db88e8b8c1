// Sealed and hidden files that somebody else replaces while a call runs: the kernel drops what was mounted over them.
import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { describeForms } from './harness.js'
import type { Cell, PolicyText, RanCall } from './harness.js'
import { playground } from './playground.js'

/** Says `ready`, waits for another file at `path` (or none), gives the keeper a moment, and does what it wants to do. */
const onceReplaced = (path: string, deed: string): readonly string[] => [
  '/usr/bin/python3',
  '-c',
  `
import os, sys, time
path = ${JSON.stringify(path)}
def identity():
    try: return os.lstat(path).st_ino
    except FileNotFoundError: return 0
before = identity()
print('ready', flush=True)
began = time.monotonic()
while identity() == before and time.monotonic() - began < 3: pass
time.sleep(0.5)
try:
    ${deed}
    print('done')
except OSError as error:
    print('refused', error)
`,
]

const whileItRuns = async (cell: Cell, workspace: string, policy: PolicyText, argv: readonly string[], meanwhile: () => void): Promise<RanCall> => {
  let isDone = false
  const onStdout = (text: string): void => {
    if (isDone || !text.includes('ready')) return
    isDone = true
    meanwhile()
  }
  return cell.run(argv, { policy, workspace, cwd: workspace, onStdout })
}

/** As an editor saves. */
const replace = (path: string, content: string): void => {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

const expectEnded = (cell: Cell, { result }: RanCall, path: string): void => {
  // Without mounts nothing falls off: what is new has no rule that allows it.
  if (cell.form === 'landlock') return
  expect(result.status).toBe('signaled')
  expect(result.violations).toContainEqual({ kind: 'unsealed', path })
}

describeForms('files that are replaced while a call runs', (cell) => {
  test('a sealed one is not open to the tool', async () => {
    const { inside } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    const config = join(inside, '.git/config')
    const call = await whileItRuns(cell, inside, { filesystem: { write: [inside] } }, onceReplaced(config, "open(path, 'a').write('evil')"), () => {
      execFileSync('git', ['-C', inside, 'config', 'user.name', 'somebody'])
    })
    expect(readFileSync(config, 'utf8')).toContain('somebody')
    expect(readFileSync(config, 'utf8')).not.toContain('evil')
    expectEnded(cell, call, config)
  })

  test('one that was removed cannot be made by the tool', async () => {
    const { inside, file } = playground()
    const name = file('inside/.envrc', 'original\n')
    const call = await whileItRuns(cell, inside, { filesystem: { write: [inside] } }, onceReplaced(name, "open(path, 'w').write('evil')"), () => {
      rmSync(name)
    })
    expect(() => readFileSync(name)).toThrow()
    expectEnded(cell, call, name)
  })

  test('a hidden one cannot be read', async () => {
    const { inside, file } = playground()
    const secret = file('inside/secret', 'before\n')
    const policy = { filesystem: { read: [inside, `!${secret}`] } }
    const call = await whileItRuns(cell, inside, policy, onceReplaced(secret, 'print(open(path).read())'), () => {
      replace(secret, 'SECRET\n')
    })
    expect(call.stdout).not.toContain('SECRET')
    expectEnded(cell, call, secret)
  })

  test('others can be replaced, and changed by the tool', async () => {
    const { inside, file } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    const notes = file('inside/source/notes', 'before\n')
    const call = await whileItRuns(cell, inside, { filesystem: { write: [inside] } }, onceReplaced(notes, "open(path, 'a').write('more')"), () => {
      replace(notes, 'after\n')
    })
    expect(call.stdout).toContain('done')
    expect(readFileSync(notes, 'utf8')).toBe('after\nmore')
    expect(call.result.violations).toEqual([])
  })
})
