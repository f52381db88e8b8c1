import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'

import { expect, vi } from 'vitest'

import type { CellSettings, Pool } from '../../../src/sandbox/index.js'
import { area } from '../claim.js'
import type { Area, PolicyText } from '../claim.js'
import { textOf } from '../stage.js'
import type { Stage } from '../stage.js'
import { exitCodeOf } from '../../../../../test/ending.js'

const withPool = async (
  stage: Stage,
  policy: PolicyText,
  use: (pool: Pool) => Promise<void>,
  settings: Partial<CellSettings> = {},
): Promise<void> => {
  const pool = stage.backend.warm?.({ boundary: stage.boundary(policy), cwd: '/', program: '/bin/sh', ...settings })
  if (pool === undefined) throw new Error('this backend holds no cells ready')
  try {
    // A cell that cannot be made yet is for the call to find out.
    await pool.ready().catch(() => undefined)
    await use(pool)
  } finally {
    pool.close()
  }
}

const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script] })

const outputOf = async (pool: Pool, script: string): Promise<string> => textOf((await pool.run(sh(script))).stdout)

/** Waits for what has no event of its own. */
const until = async (isSo: () => boolean): Promise<void> => {
  for (let look = 0; look < 500 && !isSo(); look += 1) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(isSo()).toBe(true)
}

const processesOf = ({ backend }: Stage): readonly number[] => backend.cellProcesses?.() ?? []

const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // That of an earlier call, which ended by itself just now.
  }
}

export const warmCells: Area = area('Warm cells', [
  {
    claim: 'a warm call behaves like any other: arguments, input, output, exit code',
    tell: async (stage) => {
      await withPool(stage, {}, async (pool) => {
        const result = await pool.run({
          argv: ['/bin/sh', '-c', 'cat; echo "$1" >&2; exit 7', 'sh', 'an argument'],
          stdin: 'input',
        })
        expect({ code: exitCodeOf(result), out: textOf(result.stdout), err: textOf(result.stderr) }).toEqual({
          code: 7,
          out: 'input',
          err: 'an argument\n',
        })
      })
    },
  },
  {
    claim: 'a warm cell serves one call, and the next finds nothing of it',
    tell: async (stage) => {
      await withPool(stage, {}, async (pool) => {
        for (let call = 0; call < 5; call += 1)
          expect(await outputOf(pool, 'ls -A "$TMPDIR"; echo left > "$TMPDIR/left"; export LEFT=1')).toBe('')
      })
    },
  },
  {
    claim: 'the clock of a warm call begins with the call',
    tell: async (stage) => {
      await withPool(stage, { limits: { wall: '1500ms' } }, async (pool) => {
        await new Promise((resolve) => setTimeout(resolve, 1600))
        expect(await pool.run(sh('sleep 0.2; exit 3'))).toMatchObject({ status: 'exited', exitCode: 3 })
      })
    },
  },
  {
    claim: 'the pool grows with overlapping calls, up to a limit',
    tell: async (stage) => {
      await withPool(stage, {}, async (pool) => {
        expect(pool.size()).toBe(1)
        for (let burst = 0; burst < 3; burst += 1) {
          const calls = await Promise.all(Array.from({ length: 24 }, () => pool.run(sh('sleep 0.05'))))
          expect(calls.every((call) => exitCodeOf(call) === 0)).toBe(true)
          expect(pool.size()).toBeLessThanOrEqual(8)
        }
        expect(pool.size()).toBeGreaterThan(1)
      })
    },
  },
  {
    claim: 'a waiting cell that dies is replaced without a failed call',
    tell: async (stage) => {
      await withPool(stage, {}, async (pool) => {
        for (let round = 0; round < 3; round += 1) {
          await pool.ready()
          const waiting = processesOf(stage)
          expect(waiting.length).toBeGreaterThan(0)
          for (const pid of waiting) end(pid)
          await until(() => processesOf(stage).every((pid) => !waiting.includes(pid)))
          expect(await outputOf(pool, 'echo fine')).toBe('fine\n')
        }
      })
    },
  },
  {
    claim: 'one unused cell is kept, the others are dropped, and more are built when needed',
    tell: async (stage) => {
      await withPool(stage, {}, async (pool) => {
        await Promise.all(Array.from({ length: 4 }, () => outputOf(pool, 'echo burst')))
        await until(() => pool.size() > 1)
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
        try {
          const last = outputOf(pool, 'echo last')
          vi.advanceTimersByTime(3_600_000)
          expect(pool.size()).toBeLessThanOrEqual(1)
          vi.useRealTimers()
          expect([await last, await outputOf(pool, 'echo back')]).toEqual(['last\n', 'back\n'])
        } finally {
          vi.useRealTimers()
        }
      })
    },
  },
  {
    claim: 'a repository that appears between preparation and use is protected',
    given: { '@/w/src/': '' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { write: ['@/w'] } }, async (pool) => {
        stage.give({ '@/w/r/.git/hooks/': '', '@/w/.envrc': 'mine' })
        const script = stage.at(
          'for f in @/w/r/.git/hooks/pre-commit @/w/.envrc @/w/src/free; do (echo x > $f) 2> /dev/null && ' +
            'echo written || echo refused; done',
        )
        expect(await outputOf(pool, script)).toBe('refused\nrefused\nwritten\n')
        expect(stage.read('@/w/.envrc')).toBe('mine')
      })
    },
  },
  {
    claim: 'a granted file that was replaced between preparation and use is read in its new version',
    given: { '@/settings': 'old' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { read: ['@/settings'] } }, async (pool) => {
        writeFileSync(stage.at('@/settings.new'), 'new')
        renameSync(stage.at('@/settings.new'), stage.at('@/settings'))
        expect(await outputOf(pool, stage.at('cat @/settings'))).toBe('new')
      })
    },
  },
  {
    claim: 'a granted folder that was created anew between preparation and use is the new one',
    given: { '@/out/': '' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { write: ['@/out'] } }, async (pool) => {
        rmSync(stage.at('@/out'), { recursive: true })
        mkdirSync(stage.at('@/out'))
        await pool.run(sh(stage.at('echo made > @/out/f')))
        expect(stage.read('@/out/f')).toBe('made\n')
      })
    },
  },
  {
    claim: 'a file that a pattern matches since preparation is granted',
    given: { '@/data/a.txt': 'a' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { read: ['@/data/*.txt'] } }, async (pool) => {
        stage.give({ '@/data/b.txt': 'b' })
        expect(await outputOf(pool, stage.at('cat @/data/a.txt @/data/b.txt'))).toBe('ab')
      })
    },
  },
  {
    claim: 'a file that a carve-out matches since preparation is carved out',
    given: { '@/data/a': 'a' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { read: ['@/data', '!@/data/**/*.key'] } }, async (pool) => {
        stage.give({ '@/data/b.key': 'secret' })
        expect(await outputOf(pool, stage.at('cat @/data/a @/data/b.key 2> /dev/null'))).toBe('a')
      })
    },
  },
  {
    claim: 'a link that replaced a granted folder between preparation and use is refused',
    given: { '@/data/f': 'f', '@/secret/f': 'secret' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { read: ['@/data'] } }, async (pool) => {
        rmSync(stage.at('@/data'), { recursive: true })
        stage.give({ '@/data': { link: '@/secret' } })
        await expect(pool.run(sh(stage.at('cat @/data/f')))).rejects.toMatchObject({ code: 'path-is-symlink' })
      })
    },
  },
  {
    claim: 'a folder that is missing at preparation may exist at the call',
    given: { '@/w/': '' },
    tell: async (stage) => {
      await withPool(stage, { filesystem: { write: ['@/w/later'] } }, async (pool) => {
        await expect(pool.run(sh('true'))).rejects.toMatchObject({ code: 'path-missing' })
        stage.give({ '@/w/later/': '' })
        expect(await outputOf(pool, stage.at('echo x > @/w/later/f && cat @/w/later/f'))).toBe('x\n')
        expect(await outputOf(pool, 'echo again')).toBe('again\n')
      })
    },
  },
  {
    claim: 'a cell runs only the program that it was prepared for',
    given: { '@/secret': 's' },
    tell: async (stage) => {
      await withPool(stage, { exec: 'none' }, async (pool) => {
        expect(textOf((await pool.run({ argv: ['/bin/echo', 'other'] })).stdout)).toBe('other\n')
        expect(await outputOf(pool, 'echo own')).toBe('own\n')
      })
    },
  },
  {
    claim: 'a closed pool refuses calls, and its cells are gone',
    tell: async (stage) => {
      const before = processesOf(stage).length
      const pool = stage.backend.warm?.({ boundary: stage.boundary({}), cwd: '/', program: '/bin/true' })
      await pool?.ready()
      pool?.close()
      await expect(pool?.run({ argv: ['/bin/true'] })).rejects.toMatchObject({ code: 'sandbox-closed' })
      await until(() => processesOf(stage).length <= before)
    },
  },
])
