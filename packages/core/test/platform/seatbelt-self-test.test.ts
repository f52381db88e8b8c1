// The self-test of the Seatbelt backend, without Seatbelt: with no boundary, and in a cell of Linux.
import { describe, expect, it } from 'vitest'

import { parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import { openSandbox } from '../../src/sandbox/index.js'
import { runProgram } from '../../src/sandbox/host/plain-process.js'
import {
  readAttempts,
  refuseUnlessHeld,
  tryOutside,
  withTargets,
  wordsOf,
} from '../../src/sandbox/seatbelt/test-this-mac.js'
import type { Attempts } from '../../src/sandbox/seatbelt/test-this-mac.js'

const problemOf = (outside: Attempts, inside: Attempts): string => {
  try {
    refuseUnlessHeld(outside, inside)
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

/** What an honest boundary would give. */
const outcomes = (outside: Attempts, isTwin: (name: string) => boolean): Attempts =>
  Object.fromEntries(Object.keys(outside).map((name) => [name, isTwin(name) ? 'done' : 'failed'])) as Attempts

const TWIN = /-granted$|-self$/

describe('the self-test', () => {
  it('can do everything where nothing confines it, and then claims nothing', async () => {
    const outside = await withTargets(undefined, tryOutside)
    expect(new Set(Object.values(outside))).toEqual(new Set(['done']))
    expect(problemOf(outside, outside)).toMatch(
      /was not refused: filesystem_read, filesystem_write, carve_outs, network/,
    )
  })

  it('claims what was refused, and does not open if one attack of many worked', async () => {
    const outside = await withTargets(undefined, tryOutside)
    const inside = outcomes(outside, (name) => TWIN.test(name))
    expect(refuseUnlessHeld(outside, inside)).toMatchObject({ filesystem_read: ['seatbelt'], file_names: ['seatbelt'] })
    for (const name of Object.keys(inside).filter((each) => !TWIN.test(each) && !/^(?:list|touch)-/.test(each)))
      expect(problemOf(outside, { ...inside, [name]: 'done' })).toMatch(/was not refused/)
    expect(refuseUnlessHeld(outside, { ...inside, 'list-ungranted': 'done' })).toMatchObject({ file_names: [] })
  })

  it('takes nothing for a refusal that also failed without the profile, or that broke everything', async () => {
    const outside = await withTargets(undefined, tryOutside)
    const inside = outcomes(outside, (name) => TWIN.test(name))
    expect(problemOf({ ...outside, 'ask-resolver': 'failed' }, inside)).toMatch(/was not refused: network/)
    expect(
      problemOf(
        outside,
        outcomes(outside, () => false),
      ),
    ).toMatch(/could not do what was granted: read-granted/)
  })

  it.each(['', 'null', '[]', '{"read-granted":"done"}', 'done'])('does not believe the output %j', (output) => {
    expect(readAttempts(output)).toBeUndefined()
  })

  it.runIf(process.platform === 'linux')('is refused by a cell of Linux, attack by attack', async () => {
    const sandbox = await openSandbox({ nursery: 'none' })
    try {
      await withTargets(undefined, async (targets, folder) => {
        const policy = {
          filesystem: { read: [targets.granted], write: [targets.writable] },
          exec: 'none',
        }
        const { stdout } = await sandbox.run({
          boundary: resolvePolicy(parsePolicy(policy, 'test'), { workspace: folder, home: folder, kind: 'process' }),
          cwd: folder,
          argv: [process.execPath, ...wordsOf(targets)],
        })
        const inside = readAttempts(Buffer.from(stdout).toString())
        // A cell of Linux reaches no port of the host at all, and its process number 1 is its own.
        expect(inside).toMatchObject({
          'read-granted': 'done',
          'write-granted': 'done',
          'start-granted': 'done',
          'signal-self': 'done',
          'read-ungranted': 'failed',
          'list-ungranted': 'failed',
          'write-outside': 'failed',
          'touch-outside': 'failed',
          'connect-other-port': 'failed',
          'connect-socket': 'failed',
          'start-unlisted': 'failed',
        })
      })
    } finally {
      await sandbox.close()
    }
  })
})

describe('a program of the Seatbelt backend', () => {
  const run = (script: string, changes: object = {}) =>
    runProgram({
      argv: [process.execPath, '-e', script],
      cwd: '/',
      environment: {},
      stdin: Buffer.from('given'),
      wall: 60_000,
      output: 1 << 16,
      ...changes,
    })

  it('gets its input and no variables, and its output and status are kept', async () => {
    const script =
      'process.stdin.pipe(process.stdout); console.error(Object.keys(process.env).length); process.exitCode = 3'
    const { ending, stdout, stderr } = await run(script)
    expect(ending).toEqual({ status: 'exited', exitCode: 3 })
    expect([Buffer.from(stdout).toString(), Buffer.from(stderr).toString()]).toEqual(['given', '0\n'])
  })

  it('ends at its limits, and when its call is cancelled', async () => {
    const forever = 'setInterval(() => {}, 1000)'
    expect((await run(forever, { wall: 300 })).ending).toMatchObject({ status: 'limit', limit: 'wall' })
    const flood = 'setInterval(() => process.stdout.write("x".repeat(65536)), 1)'
    expect((await run(flood)).ending).toMatchObject({ status: 'limit', limit: 'output' })
    expect((await run(forever, { signal: AbortSignal.timeout(300) })).ending).toEqual({ status: 'signaled', signal: 9 })
  })

  it('leaves no child of its group behind', async () => {
    const script =
      'const { pid } = require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], ' +
      '{ stdio: "ignore" }); console.log(pid); process.exit()'
    const { stdout } = await run(script)
    const child = Number(Buffer.from(stdout).toString())
    await expect
      .poll(() => {
        try {
          process.kill(child, 0)
          return 'lives'
        } catch {
          return 'gone'
        }
      })
      .toBe('gone')
  })
})
