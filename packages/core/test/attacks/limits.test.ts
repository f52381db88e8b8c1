import { readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { inMainCells, mustRun, programs } from './harness.js'
import type { Call, RanCall } from './harness.js'
import { playground } from './playground.js'
import { newMark, survivorsOf } from './survivors.js'
import { describeCells } from './walled.js'

/** The bomb did not reach its goal, and the limit that stopped it was named. */
const expectStopped = (call: Call, kind: string): RanCall => {
  const ran = mustRun(call)
  expect(ran.routes.filter(({ outcome }) => outcome === 'escaped')).toEqual([])
  expect(ran.result.violations.map((violation) => violation.kind)).toContain(kind)
  return ran
}

/** Of statfs(2). A cell without a root of its own sets no attributes there. */
const TMPFS = 0x0102_1994

describeCells('a bomb of processes', (cell) => {
  // Those that mostly wait do so at the same time. None of them has a playground: that is cleared away after each test.
  test.concurrent.each(['fork', 'orphans', 'threads', 'starved'])(
    'a process bomb stays within its limit and is reported (%s)',
    async (kind) => {
      const mark = newMark()
      const call = await cell.attack('process-bomb', [kind, '200', mark], {
        policy: { limits: { processes: 40, wall: '30s' } },
      })
      expectStopped(call, 'processes')
      expect(await survivorsOf(mark)).toEqual([])
    },
  )

  test.each(['fork', 'orphans', 'threads'])('fewer processes than the limit can run (%s)', async (kind) => {
    const call = mustRun(
      await cell.attack('process-bomb', [kind, '20', newMark()], {
        policy: { limits: { processes: 60, wall: '30s' } },
      }),
    )
    expect(call.routes).toMatchObject([{ route: kind, outcome: 'escaped' }])
    expect(call.result.violations).toEqual([])
  })

  test('a fork bomb without a declared limit still ends', inMainCells(cell), async () => {
    const mark = newMark()
    const call = mustRun(
      await cell.attack('process-bomb', ['fork', '3000', mark], { policy: { limits: { wall: '30s' } } }),
    )
    // Without a pid namespace the supervisor counts now and then: how far a bomb gets before that depends on the
    // machine.
    if (cell.form === 'namespaces') expect(call.routes.filter(({ outcome }) => outcome === 'escaped')).toEqual([])
    expect(await survivorsOf(mark)).toEqual([])
  })
})

describeCells('a bomb of memory', (cell) => {
  test.each(['anonymous', 'shared', 'memfd', 'page-tables', 'children', 'in-flight'])(
    'a memory bomb is stopped at its limit and reported (%s)',
    async (kind) => {
      expectStopped(
        await cell.attack('memory-bomb', [kind, '384'], { policy: { limits: { memory: '64M', wall: '40s' } } }),
        'memory',
      )
    },
  )

  test.concurrent.each(['anonymous', 'memfd', 'children'])(
    'less memory than the limit can be used (%s)',
    inMainCells(cell),
    async (kind) => {
      const call = mustRun(
        await cell.attack('memory-bomb', [kind, '24'], { policy: { limits: { memory: '128M', wall: '40s' } } }),
      )
      expect(call.routes).toMatchObject([{ route: kind, outcome: 'escaped' }])
      expect(call.result.violations).toEqual([])
    },
  )

  test.each(['sockets', 'pipes'])('memory left in the kernel is limited (%s)', async (kind) => {
    const call = mustRun(
      await cell.attack('memory-bomb', [kind, '512'], {
        policy: { limits: { memory: '64M', wall: '40s', openFiles: 128 } },
      }),
    )
    expect(call.routes.filter(({ outcome }) => outcome === 'escaped')).toEqual([])
  })
})

describeCells('a private folder with a limit', (cell) => {
  test.each(['/tmp', '/dev/shm'])('filling %s is stopped at its limit and reported', async (folder) => {
    const free = statfsSync('/tmp').bavail
    const call = await cell.call(
      [
        '/bin/sh',
        '-c',
        `cd "\${TMPDIR:-/tmp}" && for i in 1 2 3 4; do dd if=/dev/zero of=fill$i bs=1M count=32 2>/dev/null; ` +
          `done; cd '${folder}' 2>/dev/null && dd if=/dev/zero of=fill bs=1M count=128 2>/dev/null; du -sm . | cut -f1`,
      ],
      { policy: { limits: { scratch: '16M', wall: '40s' } } },
    )
    const { result, stdout } = mustRun(call)
    expect(result.violations.map(({ kind }) => kind)).toContain('scratch')
    if (result.status === 'exited') expect(Number(stdout)).toBeLessThanOrEqual(17)
    // The host's own file system holds none of it any more (other processes move the figure a little).
    expect(free - statfsSync('/tmp').bavail).toBeLessThan((64 << 20) / statfsSync('/tmp').bsize)
  })

  test('filling /tmp with unlinked files is stopped and reported', async () => {
    const call = await cell.call(
      [
        '/usr/bin/python3',
        '-c',
        'import tempfile, time\nf = tempfile.TemporaryFile()\ntry:\n  for i in range(128): f.write(bytes(1 ' +
          '<< 20)); f.flush()\n  print("filled")\nfinally: time.sleep(2)',
      ],
      {
        policy: { limits: { scratch: '16M', wall: '40s' } },
      },
    )
    const { result, stdout } = mustRun(call)
    expect(stdout).not.toContain('filled')
    expect(result.violations.map(({ kind }) => kind)).toContain('scratch')
  })

  test('a tmpfs counts as memory', inMainCells(cell), async () => {
    const call = mustRun(
      await cell.call(
        [
          '/bin/sh',
          '-c',
          'dd if=/dev/zero of="${TMPDIR:-/tmp}/fill" bs=1M count=200 2>/dev/null; sleep 3; echo filled',
        ],
        { policy: { limits: { memory: '64M', scratch: '400M', wall: '40s' } } },
      ),
    )
    // Where the scratch folder is on a disk, it is not memory, and its own limit holds.
    if (cell.form === 'namespaces') expect(call.result.violations.map(({ kind }) => kind)).toContain('memory')
    else expect(call.result.usage.maxResidentBytes).toBeLessThan(64 << 20)
  })

  test('scratch within its limit can be used', async () => {
    const call = await cell.run(
      ['/bin/sh', '-c', 'dd if=/dev/zero of="${TMPDIR:-/tmp}/fill" bs=1M count=8 2>/dev/null && echo filled'],
      { policy: { limits: { scratch: '16M' } } },
    )
    expect(call.stdout).toBe('filled\n')
    expect(call.result.violations).toEqual([])
  })
})

describeCells('output without end', (cell) => {
  test.each(['out', 'err'])('300 MB of output are cut at the limit and reported (%s)', async (stream) => {
    const { result, stdout, stderr } = expectStopped(
      await cell.attack('burn', [stream, '300'], { policy: { limits: { output: '1M', wall: '60s' } } }),
      'output',
    )
    expect(result).toMatchObject({ status: 'limit', limit: 'output' })
    expect(stdout.length + stderr.length).toBeLessThanOrEqual(1 << 20)
  })

  test('300 MB of output are cut without a declared limit', inMainCells(cell), async () => {
    const { stdout } = expectStopped(
      await cell.attack('burn', ['out', '300'], { policy: { limits: { wall: '60s' } } }),
      'output',
    )
    expect(stdout.length).toBeLessThanOrEqual(128 << 20)
  })

  test('output within the limit arrives completely', async () => {
    const call = mustRun(await cell.attack('burn', ['out', '3'], { policy: { limits: { output: '4M' } } }))
    expect(call.result).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(call.stdout).toHaveLength(3 << 20)
  })
})

describeCells('a call that takes too long', (cell) => {
  for (const kind of ['cpu-orphans', 'cpu', 'cpu-setsid', 'cpu-children', 'cpu-ignored', 'cpu-threads'])
    test(
      `a busy loop is stopped at its limit and reported (${kind})`,
      kind === 'cpu-orphans' ? {} : inMainCells(cell),
      async () => {
        const call = expectStopped(
          await cell.attack('burn', [kind, '6'], { policy: { limits: { cpu: '500ms', wall: '55s' } } }),
          'cpu',
        )
        expect(call.result).toMatchObject({ status: 'limit', limit: 'cpu' })
        expect(call.result.usage.cpuMs).toBeGreaterThanOrEqual(500)
        expect(call.result.usage.maxResidentBytes).toBeGreaterThan(0)
      },
    )

  test('a busy loop in the background ends with the call', async () => {
    const mark = newMark()
    const script = `(setsid "$1" cpu 60 ${mark} &); exit 0`
    await cell.run(['/bin/sh', '-c', script, 'sh', ...programs.command('burn')], {
      policy: { limits: { cpu: '2s', wall: '50s' } },
    })
    expect(await survivorsOf(mark)).toEqual([])
  })

  test('less work than the limit completes', async () => {
    const call = mustRun(
      await cell.attack('burn', ['cpu-children', '0.2'], { policy: { limits: { cpu: '20s', wall: '50s' } } }),
    )
    expect(call.routes).toMatchObject([{ outcome: 'escaped' }])
  })

  test('a sleep is stopped at the wall clock limit and reported', async () => {
    const call = expectStopped(
      await cell.attack('burn', ['sleep', '50'], { policy: { limits: { wall: '500ms' } } }),
      'wall',
    )
    expect(call.result).toMatchObject({ status: 'limit', limit: 'wall' })
  })

  test('a process that ignores every signal is stopped at the wall clock limit', async () => {
    const mark = newMark()
    const call = await cell.call(['/bin/sh', '-c', 'trap "" TERM INT HUP QUIT ALRM; while :; do sleep 1; done', mark], {
      policy: { limits: { wall: '500ms' } },
    })
    expectStopped(call, 'wall')
    expect(await survivorsOf(mark)).toEqual([])
  })
})

describeCells('files under a limit', (cell) => {
  test('descriptors and file sizes have limits', async () => {
    const { inside } = playground()
    const policy = { filesystem: { write: [inside] }, limits: { openFiles: 64, fileSize: '4M' } }
    for (const args of [
      ['files', '200'],
      ['file', '16', join(inside, 'large')],
    ]) {
      const call = mustRun(await cell.attack('burn', args, { policy }))
      expect(call.routes).toMatchObject([{ outcome: 'refused' }])
    }
    expect(readFileSync(join(inside, 'large')).length).toBeLessThanOrEqual(4 << 20)
  })

  test.runIf(cell.form === 'namespaces' || cell.backend === 'bubblewrap')(
    'files in a private folder that is memory count towards its limit, and fewer of them are left alone',
    inMainCells(cell),
    async () => {
      const filled = (megabytes: number) =>
        cell.call(['/bin/sh', '-c', `head -c ${megabytes}M /dev/zero > $TMPDIR/file; sleep 2; echo well`], {
          policy: { limits: { memory: '64M', wall: '40s' } },
        })
      expectStopped(await filled(160), 'memory')
      expect(mustRun(await filled(16)).stdout).toBe('well\n')
    },
  )

  test('attributes of files in the private folder take no more than its limit, and a file on disk has some', async () => {
    const { inside, file } = playground()
    const path = file('inside/file')
    const script = `
import os
taken = 0
try:
    for number in range(256):
        name = os.environ["TMPDIR"] + "/" + str(number)
        open(name, "w").close()
        for each in range(16):
            os.setxattr(name, "user.a" + str(each), b"x" * 60000)
            taken += 60000
except OSError: pass
print(taken >> 20)
os.setxattr("${path}", "user.note", b"kept")
print("set")`
    const policy = { filesystem: { write: [inside] }, limits: { scratch: '64M', memory: '256M' } }
    const call = await cell.run(['/usr/bin/python3', '-c', script], { policy })
    const [megabytes, note] = call.stdout.split('\n')
    expect(Number(megabytes)).toBeLessThanOrEqual(64)
    expect(note).toBe(statfsSync(inside).type === TMPFS && cell.form === 'landlock' ? '' : 'set')
  })

  test('after every bomb the next call works', async () => {
    expect((await cell.run(['/bin/echo', 'well'])).stdout).toBe('well\n')
  })
})
