import { existsSync, readdirSync } from 'node:fs'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'
import { exitCodeOf } from '../../../../../test/ending.js'

const openDescriptors = (): number => readdirSync('/proc/self/fd').length

export const manyCalls: Area = area('Many calls', [
  {
    claim: '60 calls in sequence keep their exit codes, and leave no descriptor open',
    tell: async ({ run }) => {
      await run('true')
      const before = openDescriptors()
      for (let index = 0; index < 60; index += 1)
        expect(await run(`exit ${String(index)}`)).toMatchObject({ exitCode: index })
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(openDescriptors()).toBeLessThanOrEqual(before + 1)
    },
  },
  {
    claim: '40 concurrent calls get their own input and output',
    tell: async ({ run }) => {
      const calls = await Promise.all(
        Array.from({ length: 40 }, (_, index) => run(['/bin/cat'], { stdin: String(index).repeat(1000) })),
      )
      expect(calls.map(({ stdout }) => textOf(stdout))).toEqual(
        Array.from({ length: 40 }, (_, index) => String(index).repeat(1000)),
      )
    },
  },
  {
    claim: 'concurrent calls with different boundaries do not share them',
    given: { '@/a/f': 'a', '@/b/f': 'b' },
    tell: async ({ run }) => {
      const calls = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          run('cat @/a/f @/b/f 2> /dev/null', { policy: { filesystem: { read: [index % 2 === 0 ? '@/a' : '@/b'] } } }),
        ),
      )
      expect(calls.map(({ stdout }) => textOf(stdout))).toEqual(
        Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 'a' : 'b')),
      )
    },
  },
  {
    claim: 'concurrent calls work in one write root',
    given: { '@/w/': '' },
    tell: async ({ run, at }) => {
      const policy = { filesystem: { write: ['@/w'] } }
      const calls = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          run(`echo ${String(index)} > @/w/${String(index)} && rm @/w/${String(index)}`, { policy }),
        ),
      )
      expect(calls.every((call) => exitCodeOf(call) === 0)).toBe(true)
      expect(readdirSync(at('@/w'))).toEqual([])
    },
  },
  {
    claim: 'a refused call does not affect others',
    tell: async ({ run }) => {
      const settled = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) =>
          run('echo fine', index % 3 === 0 ? { policy: { filesystem: { read: ['@/missing'] } } } : {}),
        ),
      )
      expect(settled.map(({ status }) => status)).toEqual(
        Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
      )
    },
  },
  {
    claim: 'a violation belongs to the call that caused it',
    given: { '@/w/': '' },
    tell: async ({ run, at }) => {
      const policy = { filesystem: { write: ['@/w'] } }
      const other = run('sleep 0.3; echo fine')
      expect((await run('echo evil > @/w/.envrc', { policy })).violations).toHaveLength(1)
      expect((await other).violations).toEqual([])
      expect((await run('true', { policy })).violations).toEqual([])
      expect(existsSync(at('@/w/.envrc'))).toBe(false)
    },
  },
])
