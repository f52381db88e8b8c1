// Walls that the nursery starts. A shell is the wall, so that each step of it can be seen.
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { findLauncher } from '../../src/sandbox/index.js'
import { openCell } from '../../src/sandbox/launch/cell.js'
import { startNursery } from '../../src/sandbox/launch/nursery.js'
import { connectWalled } from '../../src/sandbox/launch/walled.js'
import { encodePlan } from '../../src/sandbox/plan/encode-plan.js'
import type { Wall, WalledCell } from '../../src/sandbox/walls/wall.js'
import { path } from '../policy/places.js'

import { planWith } from './plans.js'

const nursery = await startNursery(findLauncher(), () => undefined)
afterAll(nursery.close)

const shell = (script: string, parts: Partial<Wall> = {}, inputs: readonly Uint8Array[] = []): Wall => ({
  name: 'bubblewrap',
  program: '/bin/sh',
  brings: [],
  command: () => ({ words: ['-c', script], inputs }),
  departure: () => undefined,
  ...parts,
})

const endOf = (wall: Wall, temporary = '/nowhere/private') => {
  const cell: WalledCell = { steps: [], temporary: path(temporary), network: 'own', scratch: 0 }
  const launched = connectWalled(wall, cell, nursery.connect().connection)
  const opened = openCell(launched, encodePlan(planWith({ form: 'landlock', probe: true })))
  const ignore = () => undefined
  return opened.start({ program: path('/'), argv: ['-'], environment: {} }, undefined, {
    onStdout: ignore,
    onStderr: ignore,
  })
}

/** The launcher is its child, as the launchers of bubblewrap and firejail are. */
const AROUND = `${findLauncher()} channel; exit $?`

describe('a wall that the nursery starts', () => {
  test('has a launcher inside that builds its cell', async () => {
    expect(await endOf(shell(AROUND))).toMatchObject({ exit: { signal: 0 } })
  })

  test('is compared with the plan, by the number of the launcher inside', async () => {
    const seen: (number | undefined)[] = []
    const compared = (problem: string | undefined): Partial<Wall> => ({
      departure: (_, inside) => {
        seen.push(inside())
        return problem
      },
    })
    await endOf(shell(AROUND, compared(undefined)))
    await expect(endOf(shell(AROUND, compared('a mount is missing')))).rejects.toMatchObject({
      code: 'setup-failed',
      params: { stage: 'root', problem: 'it was not built as planned: a mount is missing' },
    })
    expect(seen).toEqual([expect.any(Number), expect.any(Number)])
  })

  test('reads its inputs from descriptors, and its last words are the error', async () => {
    const inputs = ['first "one"', 'second'].map((text) => Buffer.from(text))
    await expect(endOf(shell('cat <&5 >&2; cat <&6 >&2; exit 1', {}, inputs))).rejects.toMatchObject({
      code: 'setup-failed',
      params: { stage: 'bubblewrap', problem: 'it was not built as planned: first "one"second' },
    })
  })

  test('inherits nothing else', async () => {
    const open = 'for at in 3 4 5 6 7 8 9 10; do test -e /proc/$$/fd/$at && echo $at >&2; done'
    await expect(endOf(shell(`${open}; env >&2; exit 1`))).rejects.toMatchObject({
      params: { problem: expect.stringMatching(/: 3\n4\nPWD=\S*$/) as string },
    })
  })

  test('says with what it ended if it said nothing', async () => {
    await expect(endOf(shell('exit 3'))).rejects.toMatchObject({
      params: { problem: 'it was not built as planned: it ended with 3' },
    })
  })

  test('leaves no private folder on the host if it is killed, and none is touched if its root is its own', async () => {
    const [left, others] = ['left', 'others'].map(() => mkdtempSync(join(tmpdir(), 'cordon-walls-')))
    const script = `mkdir -p ${left}/a/b; echo x > ${left}/a/file; kill -9 $$`
    await expect(endOf(shell(script), left)).rejects.toMatchObject({
      params: { problem: 'it was not built as planned: it ended with -9' },
    })
    expect(existsSync(left ?? '')).toBe(false)
    await expect(endOf(shell('kill -9 $$', { brings: ['mount-namespace'] }), others)).rejects.toThrow()
    expect(existsSync(others ?? '')).toBe(true)
    rmdirSync(others ?? '')
  })

  test('is refused if there is no such program', async () => {
    await expect(endOf(shell('', { program: '/nowhere/wall' }))).rejects.toMatchObject({
      params: { problem: expect.stringContaining('No such file') as string },
    })
  })
})
