// One process at a time changes a file, also if some are killed while they have the lock.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { takeLock, tryLock } from '../../src/platform/index.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-lock-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const MODULE = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'platform', 'lock.js')).href

/** Adds one to the number in a file, under its lock, again and again. `kill`: dies under the lock at the end. */
const ADDER = `
  import { readFileSync, writeFileSync } from 'node:fs'
  import { takeLock } from ${JSON.stringify(MODULE)}
  const [file, times, end] = process.argv.slice(1)
  for (let at = 1; at <= Number(times); at += 1) {
    const release = await takeLock(file + '.lock')
    const before = Number(readFileSync(file, 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, 1))
    writeFileSync(file, String(before + 1))
    if (at === Number(times) && end === 'kill') process.kill(process.pid, 'SIGKILL')
    release()
  }`

test('of processes that take over from killed ones, no two change the file at once', async () => {
  const file = join(folder, 'number')
  writeFileSync(file, '0')
  const ends = ['kill', 'kill', 'live', 'live', 'kill', 'live']
  const ended = await Promise.all(
    ends.map(async (end) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', ADDER, file, '20', end], { stdio: 'inherit' })
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      return signal ?? code
    }),
  )
  expect(ended).toEqual(ends.map((end) => (end === 'kill' ? 'SIGKILL' : 0)))
  expect(readFileSync(file, 'utf8')).toBe('120')
  ;(await takeLock(`${file}.lock`))()
  expect(readdirSync(folder)).toEqual(['number'])
}, 60_000)

test('a lock is busy for its own process too, until it is released', () => {
  const path = join(folder, 'lock')
  const first = tryLock(path)
  expect(tryLock(path)).toMatchObject({
    kind: 'busy',
    name: path,
    owner: expect.stringMatching(`^${process.pid}:`) as string,
  })
  if (first.kind === 'taken') first.release()
  expect(tryLock(path).kind).toBe('taken')
})

test('a lock of a process that cannot be seen from here is busy', () => {
  const path = join(folder, 'lock')
  symlinkSync('1:1:1:', path)
  expect(tryLock(path)).toEqual({ kind: 'busy', name: path, owner: '1:1:1:' })
})
